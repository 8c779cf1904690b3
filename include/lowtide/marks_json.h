// The little JSON that lowtide/marks.h needs: one flat object out, one reply in. Not a public
// interface.
#ifndef LOWTIDE_MARKS_JSON_H_
#define LOWTIDE_MARKS_JSON_H_

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace lowtide::marks::json {

inline constexpr std::size_t kMaxNameBytes = 128;
inline constexpr std::size_t kMaxMetrics = 256;

// Well-formed UTF-8 (no overlong form, surrogate or value above U+10FFFF).
inline bool IsUtf8(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    const auto lead = static_cast<unsigned char>(text[i++]);
    if (lead < 0x80) continue;
    const std::size_t more = lead >= 0xF0 ? 3 : lead >= 0xE0 ? 2 : 1;
    if (lead < 0xC2 || lead > 0xF4 || text.size() - i < more) return false;
    for (std::size_t k = 0; k < more; ++k) {
      const auto next = static_cast<unsigned char>(text[i + k]);
      unsigned low = 0x80;
      unsigned high = 0xBF;
      if (k == 0 && lead == 0xE0) low = 0xA0;
      if (k == 0 && lead == 0xED) high = 0x9F;
      if (k == 0 && lead == 0xF0) low = 0x90;
      if (k == 0 && lead == 0xF4) high = 0x8F;
      if (next < low || next > high) return false;
    }
    i += more;
  }
  return true;
}

// A metric's name that the protocol allows.
inline bool IsName(std::string_view name) {
  if (name.empty() || name.size() > kMaxNameBytes || !IsUtf8(name)) return false;
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7F) return false;
  }
  return true;
}

// Shortest of %.15g and %.17g that reads back as the same number, with a point whatever the locale.
inline std::string FormatNumber(double value) {
  if (!std::isfinite(value)) return "null";
  char text[40];
  std::snprintf(text, sizeof(text), "%.15g", value);
  if (std::strtod(text, nullptr) != value) std::snprintf(text, sizeof(text), "%.17g", value);
  std::string number;
  for (const char* c = text; *c != '\0'; ++c) {
    const bool of_a_number = (*c >= '0' && *c <= '9') || *c == '-' || *c == '+' || *c == 'e';
    if (of_a_number) {
      number += *c;
    } else if (number.back() != '.') {  // the locale's point may have several bytes
      number += '.';
    }
  }
  return number;
}

// Builds {"mark":"<name>",...}\n.
class Writer {
 public:
  explicit Writer(std::string_view mark) { Text("mark", mark); }

  void Integer(std::string_view key, std::int64_t value) {
    Key(key);
    line_ += std::to_string(value);
  }
  void Text(std::string_view key, std::string_view value) {
    Key(key);
    Quote(value);
  }
  // Leaves out names that the protocol does not allow and repeated ones (the first counts), and
  // what goes beyond its bounds of number and length.
  void Metrics(const std::vector<std::pair<std::string, double>>& metrics) {
    constexpr std::size_t kRoom = std::size_t{63} * 1024;
    Key("metrics");
    line_ += '{';
    std::vector<std::string_view> seen;
    std::size_t not_finite = 0;
    for (const auto& [name, value] : metrics) {
      if (seen.size() == kMaxMetrics || line_.size() + 2 * name.size() + 40 > kRoom) break;
      if (!IsName(name) || Contains(seen, name)) continue;
      if (!std::isfinite(value)) ++not_finite;
      if (!seen.empty()) line_ += ',';
      seen.push_back(name);
      Quote(name);
      line_ += ':';
      line_ += FormatNumber(value);
    }
    line_ += '}';
    left_out_ = metrics.size() - seen.size();
    not_finite_ = not_finite;
  }
  // Of the metrics: how many are not in the line, and how many are there without a number.
  std::size_t LeftOut() const { return left_out_; }
  std::size_t NotFinite() const { return not_finite_; }
  std::string Finish() && {
    line_ += "}\n";
    return std::move(line_);
  }

 private:
  static bool Contains(const std::vector<std::string_view>& seen, std::string_view name) {
    for (const auto other : seen) {
      if (other == name) return true;
    }
    return false;
  }
  void Key(std::string_view key) {
    line_ += line_.empty() ? '{' : ',';
    Quote(key);
    line_ += ':';
  }
  void Quote(std::string_view text) {
    line_ += '"';
    for (const char c : text) {
      if (c == '"' || c == '\\') line_ += '\\';
      line_ += c;
    }
    line_ += '"';
  }

  std::string line_;
  std::size_t left_out_ = 0;
  std::size_t not_finite_ = 0;
};

struct ParsedReply {
  bool ok = false;
  double delay_s = 0;
  std::string error;
};

// Reads one JSON object and keeps the three keys above; others, of whatever type, are skipped.
class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  // Nothing when it is not a JSON object that says `ok`.
  std::optional<ParsedReply> Reply() {
    ParsedReply reply;
    bool has_ok = false;
    if (!Take('{')) return std::nullopt;
    for (bool first = true; !Take('}'); first = false) {
      if (!first && !Take(',')) return std::nullopt;
      std::string key;
      if (!String(&key) || !Take(':')) return std::nullopt;
      Space();
      const std::size_t start = at_;
      std::string text;
      const bool is_text = Peek() == '"';
      if (is_text ? !String(&text) : !Skip(0)) return std::nullopt;
      const std::string value(text_.substr(start, at_ - start));
      if (key == "ok") {
        has_ok = true;
        reply.ok = value == "true";
      } else if (key == "delay_s") {
        reply.delay_s = Number(value).value_or(0);
      } else if (key == "error" && is_text) {
        reply.error = text;
      }
    }
    Space();
    if (!has_ok || at_ != text_.size()) return std::nullopt;
    return reply;
  }

 private:
  static constexpr int kMaxDepth = 64;

  char Peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  void Space() {
    while (Peek() == ' ' || Peek() == '\t' || Peek() == '\r' || Peek() == '\n') ++at_;
  }
  bool Take(char c) {
    Space();
    if (Peek() != c) return false;
    ++at_;
    return true;
  }

  // A number as JSON spells it, read without the locale's decimal point.
  static std::optional<double> Number(const std::string& text) {
    double value = 0;
    double scale = 1;
    double exponent = 0;
    std::size_t i = 0;
    const bool negative = text[0] == '-';
    if (negative) ++i;
    if (i >= text.size() || text[i] < '0' || text[i] > '9') return std::nullopt;
    for (; i < text.size() && text[i] >= '0' && text[i] <= '9'; ++i) {
      value = value * 10 + (text[i] - '0');
    }
    if (i < text.size() && text[i] == '.') {
      for (++i; i < text.size() && text[i] >= '0' && text[i] <= '9'; ++i) {
        scale /= 10;
        value += scale * (text[i] - '0');
      }
    }
    if (i < text.size() && (text[i] == 'e' || text[i] == 'E')) {
      exponent = static_cast<double>(std::strtol(text.c_str() + i + 1, nullptr, 10));
      i = text.size();
    }
    if (i != text.size()) return std::nullopt;
    value *= std::pow(10.0, exponent);
    if (!std::isfinite(value)) return std::nullopt;
    return negative ? -value : value;
  }

  // Moves past a value of any type; lenient inside what is skipped.
  bool Skip(int depth) {
    Space();
    const char open = Peek();
    if (open == '"') return String(nullptr);
    if (open != '{' && open != '[') return SkipWord();
    if (depth >= kMaxDepth) return false;
    ++at_;
    const char close = open == '{' ? '}' : ']';
    for (bool first = true; !Take(close); first = false) {
      if (!first && !Take(',')) return false;
      if (open == '{' && (!String(nullptr) || !Take(':'))) return false;
      if (!Skip(depth + 1)) return false;
    }
    return true;
  }
  bool SkipWord() {
    const std::size_t start = at_;
    const auto in_word = [](char c) {
      return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || c == '-' || c == '+' || c == '.' ||
             c == 'E';
    };
    while (in_word(Peek())) ++at_;
    return at_ > start;
  }

  // Moves past a string; its text goes to `out`, escapes beyond ASCII as "?".
  bool String(std::string* out) {
    if (!Take('"')) return false;
    while (at_ < text_.size()) {
      const char c = text_[at_++];
      if (c == '"') return true;
      if (c != '\\') {
        if (out != nullptr) *out += c;
        continue;
      }
      const char plain = Escape();
      if (plain == '\0') return false;
      if (out != nullptr) *out += plain;
    }
    return false;
  }
  // The character of the escape that follows a backslash; NUL when it is none.
  char Escape() {
    const char c = Peek();
    ++at_;
    switch (c) {
      case '"':
      case '\\':
      case '/': return c;
      case 'n':
      case 'r':
      case 't':
      case 'b':
      case 'f': return ' ';
      case 'u': break;
      default: return '\0';
    }
    if (text_.size() < at_ || text_.size() - at_ < 4) return '\0';
    const std::string digits(text_.substr(at_, 4));
    if (digits.find_first_not_of("0123456789abcdefABCDEF") != std::string::npos) return '\0';
    at_ += 4;
    const long code = std::strtol(digits.c_str(), nullptr, 16);
    return code >= 0x20 && code < 0x7F ? static_cast<char>(code) : '?';
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

inline std::optional<ParsedReply> ParseReply(std::string_view line) { return Reader(line).Reply(); }

}  // namespace lowtide::marks::json

#endif  // LOWTIDE_MARKS_JSON_H_
