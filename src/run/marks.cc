#include "run/marks.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "base/json.h"

namespace lowtide {
namespace {

constexpr std::size_t kMaxQuotedBytes = 64;
constexpr std::size_t kMaxParserMessageBytes = 256;  // it quotes what it read last
constexpr std::size_t kMaxIgnoredDepth = 64;

using Value = std::variant<std::nullptr_t, bool, std::int64_t, double, std::string>;

struct Field {
  std::string_view key;
  std::optional<Value> value;
};

// Foreign text in a message: quoted, escaped, and short.
std::string Quote(std::string_view text) {
  if (text.size() <= kMaxQuotedBytes) return DumpJson(Json(text));
  return DumpJson(Json(text.substr(0, kMaxQuotedBytes))) + "...";
}

std::string Describe(const Value& value) {
  if (const auto* b = std::get_if<bool>(&value)) return *b ? "true" : "false";
  if (const auto* i = std::get_if<std::int64_t>(&value)) return fmt::format("{}", *i);
  if (const auto* d = std::get_if<double>(&value)) return fmt::format("{}", *d);
  if (const auto* s = std::get_if<std::string>(&value)) return Quote(*s);
  return "null";
}

bool IsPlainName(std::string_view name) {
  return !name.empty() && name.size() <= kMaxMarkNameBytes &&
         std::none_of(name.begin(), name.end(), [](char c) {
           const auto byte = static_cast<unsigned char>(c);
           return byte < 0x20 || byte == 0x7f;
         });
}

// Receives the JSON parser's events; keeps known keys only, so that a line costs no more than its
// bytes. Returning false stops the parser; error_ then says why.
class Collector {
 public:
  // NOLINTBEGIN(readability-identifier-naming): the names are the parser's.
  bool null() { return Take(nullptr); }
  bool boolean(bool value) { return Take(value); }
  bool number_integer(std::int64_t value) { return Take(value); }
  bool number_unsigned(std::uint64_t value) {
    if (std::in_range<std::int64_t>(value)) return Take(static_cast<std::int64_t>(value));
    return Take(static_cast<double>(value));
  }
  bool number_float(double value, const std::string& /*text*/) { return Take(value); }
  bool string(std::string& value) { return Take(std::move(value)); }
  bool binary(Json::binary_t& /*value*/) { return Stop("binary values are not JSON"); }
  bool start_object(std::size_t /*size*/) { return Enter(Opens::kObject); }
  bool end_object() { return Leave(); }
  bool start_array(std::size_t /*size*/) { return Enter(Opens::kList); }
  bool end_array() { return Leave(); }
  bool key(std::string& value) {
    (depth_ == 2 && in_metrics_ ? metric_ : key_) = std::move(value);
    return true;
  }
  bool parse_error(std::size_t /*position*/, const std::string& /*token*/,
                   const nlohmann::detail::exception& e) {
    std::string_view what = e.what();
    if (what.size() <= kMaxParserMessageBytes)
      return Stop(fmt::format("not one JSON object: {}", what));
    what = what.substr(0, kMaxParserMessageBytes);
    return Stop(fmt::format("not one JSON object: {}...", what));
  }
  // NOLINTEND(readability-identifier-naming)

  const std::string& error() const { return error_; }

  const std::optional<Value>& Get(std::string_view key) const {
    static const std::optional<Value> kNone;
    const auto index = IndexOf(key);
    return index ? fields_.at(*index).value : kNone;
  }
  std::optional<MarkMetrics>& metrics() { return metrics_; }

 private:
  bool Stop(std::string why) {
    if (error_.empty()) error_ = std::move(why);
    return false;
  }

  std::optional<std::size_t> IndexOf(std::string_view key) const {
    for (std::size_t i = 0; i < fields_.size(); ++i) {
      if (fields_.at(i).key == key) return i;
    }
    return std::nullopt;
  }

  bool Take(Value value) {
    if (depth_ == 0) return Stop("a mark is a JSON object, not " + Describe(value));
    if (depth_ == 1) return TakeField(std::move(value));
    if (depth_ == 2 && in_metrics_) return TakeMetric(value);
    return true;
  }

  bool TakeField(Value value) {
    if (key_ == "metrics") {
      if (std::holds_alternative<std::nullptr_t>(value)) return true;
      return Stop("metrics must be an object, not " + Describe(value));
    }
    const auto index = IndexOf(key_);
    if (!index) return true;
    auto& field = fields_.at(*index);
    if (field.value) return Stop(fmt::format("{} is there twice", key_));
    field.value = std::move(value);
    return true;
  }

  bool TakeMetric(const Value& value) {
    if (!IsPlainName(metric_)) {
      return Stop(fmt::format("metrics: a name has 1 to {} bytes and no control characters: {}",
                              kMaxMarkNameBytes, Quote(metric_)));
    }
    std::optional<double> number;
    if (const auto* i = std::get_if<std::int64_t>(&value)) number = static_cast<double>(*i);
    if (const auto* d = std::get_if<double>(&value)) number = *d;
    const bool is_null = std::holds_alternative<std::nullptr_t>(value);
    if (!is_null && !(number && std::isfinite(*number))) {
      return Stop(fmt::format("metrics: {} must be a number or null, not {}", Quote(metric_),
                              Describe(value)));
    }
    if (metrics_->size() >= kMaxMarkMetrics) {
      return Stop(fmt::format("metrics: more than {} in one mark", kMaxMarkMetrics));
    }
    if (!metrics_->try_emplace(metric_, number).second) {
      return Stop(fmt::format("metrics: {} is there twice", Quote(metric_)));
    }
    return true;
  }

  enum class Opens : std::uint8_t { kObject, kList };

  bool Enter(Opens what) {
    if (depth_ >= kMaxIgnoredDepth) {
      return Stop(fmt::format("nested deeper than {} levels", kMaxIgnoredDepth));
    }
    if (depth_ == 1) {
      if (key_ == "metrics" && what == Opens::kObject) {
        if (metrics_) return Stop("metrics is there twice");
        metrics_.emplace();
        in_metrics_ = true;
      } else if (key_ == "metrics") {
        return Stop("metrics must be an object, not a list");
      } else if (IndexOf(key_)) {
        return Stop(fmt::format("{} must be one value, not a list or an object", key_));
      }
    } else if (depth_ == 2 && in_metrics_) {
      return Stop(fmt::format("metrics: {} must be a number or null, not a list or an object",
                              Quote(metric_)));
    } else if (depth_ == 0 && what == Opens::kList) {
      return Stop("a mark is a JSON object, not a list");
    }
    ++depth_;
    return true;
  }

  bool Leave() {
    --depth_;
    if (depth_ == 1) in_metrics_ = false;
    return true;
  }

  std::array<Field, 10> fields_{{{"mark", {}},
                                 {"protocol", {}},
                                 {"client", {}},
                                 {"pid", {}},
                                 {"rank", {}},
                                 {"local_rank", {}},
                                 {"epoch", {}},
                                 {"total_epochs", {}},
                                 {"count", {}},
                                 {"value", {}}}};
  std::optional<MarkMetrics> metrics_;
  std::string key_;
  std::string metric_;
  std::string error_;
  std::size_t depth_ = 0;
  bool in_metrics_ = false;
};

// The typed values of one mark, for messages that begin with its name.
class Reader {
 public:
  Reader(const Collector& fields, std::string_view mark) : fields_(fields), mark_(mark) {}

  Result<std::int64_t> Integer(std::string_view key, std::int64_t min, std::int64_t max) const {
    const auto& value = fields_.Get(key);
    if (!value) {
      return Fail(Code::kInvalidArgument, fmt::format("{}: {} is missing", mark_, key));
    }
    const auto* const number = std::get_if<std::int64_t>(&*value);
    if (number == nullptr || *number < min || *number > max) {
      return Fail(Code::kInvalidArgument,
                  fmt::format("{}: {} must be an integer from {} to {}, not {}", mark_, key, min,
                              max, Describe(*value)));
    }
    return *number;
  }

  // Absent and null mean the same: not known.
  Result<std::optional<std::int64_t>> OptionalInteger(std::string_view key, std::int64_t min,
                                                      std::int64_t max) const {
    const auto& value = fields_.Get(key);
    if (!value || std::holds_alternative<std::nullptr_t>(*value)) return std::nullopt;
    LOWTIDE_TRY(const auto number, Integer(key, min, max));
    return number;
  }

  Result<std::string> OptionalName(std::string_view key) const {
    const auto& value = fields_.Get(key);
    if (!value || std::holds_alternative<std::nullptr_t>(*value)) return std::string();
    const auto* const text = std::get_if<std::string>(&*value);
    if (text == nullptr || !IsPlainName(*text)) {
      return Fail(Code::kInvalidArgument,
                  fmt::format("{}: {} must be a text of 1 to {} bytes without control characters, "
                              "not {}",
                              mark_, key, kMaxMarkNameBytes, Describe(*value)));
    }
    return *text;
  }

 private:
  const Collector& fields_;
  std::string_view mark_;
};

Result<Mark> MakeHello(const Reader& read) {
  LOWTIDE_TRY(const auto protocol, read.Integer("protocol", 0, kMaxMarkNumber));
  if (protocol != kMarksProtocol) {
    return Fail(
        Code::kInvalidArgument,
        fmt::format("hello: protocol {} is not spoken here, only {}", protocol, kMarksProtocol));
  }
  HelloMark hello;
  LOWTIDE_TRY(hello.client, read.OptionalName("client"));
  LOWTIDE_TRY(hello.pid, read.OptionalInteger("pid", 1, INT32_MAX));
  LOWTIDE_TRY(hello.rank, read.OptionalInteger("rank", 0, kMaxMarkRank));
  LOWTIDE_TRY(hello.local_rank, read.OptionalInteger("local_rank", 0, kMaxMarkRank));
  return hello;
}

}  // namespace

std::string_view MarkName(const Mark& mark) {
  static constexpr std::array<std::string_view, std::variant_size_v<Mark>> kNames = {
      "hello", "epoch_begin", "epoch_end", "step", "metrics", "total_epochs", "batch_size"};
  return kNames.at(mark.index());
}

Result<Mark> ParseMark(std::string_view line) {
  if (line.size() >= kMaxMarkBytes) {
    return Fail(Code::kInvalidArgument,
                fmt::format("a line has at most {} bytes with its newline", kMaxMarkBytes));
  }
  if (line.find('\0') != std::string_view::npos) {
    // To the parser it would be the end of the text, whatever follows.
    return Fail(Code::kInvalidArgument, "not one JSON object: it has a NUL byte");
  }
  Collector fields;
  if (!Json::sax_parse(line, &fields)) {
    return Fail(Code::kInvalidArgument, fields.error());
  }
  const auto& mark = fields.Get("mark");
  const auto* const name = mark ? std::get_if<std::string>(&*mark) : nullptr;
  if (name == nullptr) {
    return Fail(Code::kInvalidArgument,
                mark ? fmt::format("mark must be a text, not {}", Describe(*mark))
                     : "mark is missing: it says what the line is");
  }
  const Reader read(fields, *name);
  if (*name == "hello") return MakeHello(read);
  if (*name == "epoch_begin") {
    LOWTIDE_TRY(const auto epoch, read.Integer("epoch", 0, kMaxMarkNumber));
    LOWTIDE_TRY(const auto total, read.OptionalInteger("total_epochs", 1, kMaxMarkNumber));
    return EpochBeginMark{epoch, total};
  }
  if (*name == "epoch_end") {
    LOWTIDE_TRY(const auto epoch, read.Integer("epoch", 0, kMaxMarkNumber));
    return EpochEndMark{epoch, std::move(fields.metrics()).value_or(MarkMetrics{})};
  }
  if (*name == "step") {
    LOWTIDE_TRY(const auto count, read.Integer("count", 1, kMaxMarkNumber));
    return StepMark{count};
  }
  if (*name == "metrics") {
    if (!fields.metrics()) return Fail(Code::kInvalidArgument, "metrics: metrics is missing");
    return MetricsMark{*std::move(fields.metrics())};
  }
  if (*name == "total_epochs") {
    LOWTIDE_TRY(const auto value, read.Integer("value", 1, kMaxMarkNumber));
    return TotalEpochsMark{value};
  }
  if (*name == "batch_size") {
    LOWTIDE_TRY(const auto value, read.Integer("value", 1, kMaxMarkNumber));
    return BatchSizeMark{value};
  }
  return Fail(Code::kInvalidArgument,
              fmt::format("unknown mark {}; allowed: hello, epoch_begin, epoch_end, step, metrics, "
                          "total_epochs, batch_size",
                          Quote(*name)));
}

std::string FormatReply(const MarkReply& reply) {
  Json json;
  json["ok"] = !reply.error.has_value();
  if (reply.error) {
    json["error"] = *reply.error;
    return DumpJson(json) + "\n";
  }
  if (reply.run_id) {
    json["protocol"] = kMarksProtocol;
    json["run_id"] = *reply.run_id;
  }
  if (reply.delay && reply.delay->count() > 0) {
    json["delay_s"] = std::min(*reply.delay, kMaxMarkDelay).count();
  }
  return DumpJson(json) + "\n";
}

}  // namespace lowtide
