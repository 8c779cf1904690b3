#include "device/cpu_model/tdp_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "base/csv.h"

namespace lowtide {
namespace {

constexpr Watts kMaxTdp{2000};

void ReplaceAll(std::string& text, std::string_view from, std::string_view to) {
  for (auto at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
}

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

bool StartsSign(char c) { return c == '(' || static_cast<unsigned char>(c) >= 0x80; }

// "64-core", "dual-core", "quad-core".
bool IsCoreCount(std::string_view word) {
  constexpr std::string_view kEnd = "-core";
  if (!word.ends_with(kEnd)) return false;
  word.remove_suffix(kEnd.size());
  constexpr std::array<std::string_view, 7> kCounts{"dual",  "triple", "quad",   "six",
                                                    "eight", "twelve", "sixteen"};
  return std::ranges::find(kCounts, word) != kCounts.end() ||
         (!word.empty() && std::ranges::all_of(word, IsDigit));
}

// "1st", "12th".
bool IsOrdinal(std::string_view word) {
  for (const std::string_view end : {"st", "nd", "rd", "th"}) {
    if (word.size() > end.size() && word.ends_with(end)) {
      word.remove_suffix(end.size());
      return std::ranges::all_of(word, IsDigit);
    }
  }
  return false;
}

bool IsNoise(std::string_view word) {
  constexpr std::array<std::string_view, 6> kNoise{"intel", "amd",       "cpu",
                                                   "apu",   "processor", "x-series"};
  return std::ranges::find(kNoise, word) != kNoise.end() || IsCoreCount(word);
}

bool IsBlank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

std::vector<std::string_view> Words(std::string_view text) {
  std::vector<std::string_view> words;
  for (std::size_t from = 0; from < text.size();) {
    if (IsBlank(text[from])) {
      ++from;
      continue;
    }
    std::size_t to = from;
    while (to < text.size() && !IsBlank(text[to])) ++to;
    words.push_back(text.substr(from, to - from));
    from = to;
  }
  return words;
}

}  // namespace

std::string NormalizeCpuName(std::string_view name) {
  std::string text(name);
  for (char& c : text) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  // A table has thousands of names and few of them signs: most are done after one look.
  if (std::ranges::any_of(text, StartsSign)) {
    // The no-break space, the zero-width space and the signs are UTF-8.
    for (const std::string_view sign :
         {"(r)", "(tm)", "(oem only)", "\xc2\xae", "\xe2\x84\xa2", "\xc2\xa0", "\xe2\x80\x8b"}) {
      ReplaceAll(text, sign, " ");
    }
  }
  text.resize(std::min(text.find('@'), text.size()));

  std::vector<std::string_view> kept;
  const auto words = Words(text);
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string_view word = words[i];
    if (!kept.empty() && (word == "with" || word == "w/" || word == "radeon")) break;
    if (IsNoise(word)) continue;
    if (IsOrdinal(word) && i + 1 < words.size() && words[i + 1] == "gen") {
      ++i;
      continue;
    }
    kept.push_back(word);
  }
  if (kept.size() > 1 && kept.back() == "0" && kept[0] == "xeon") kept.pop_back();
  std::string key;
  for (const std::string_view word : kept) {
    if (!key.empty()) key += ' ';
    key += word;
  }
  return key;
}

Result<TdpTable> TdpTable::Parse(std::string_view csv, std::string file_name) {
  LOWTIDE_TRY(const CsvTable table, ParseCsv(csv, file_name));
  LOWTIDE_TRY(const std::size_t name_column, table.Require("Name"));
  LOWTIDE_TRY(const std::size_t tdp_column, table.Require("TDP"));
  TdpTable out;
  out.file_name_ = std::move(file_name);
  const auto reject = [&out](std::string key, std::string name, std::string reason) {
    out.rejected_by_key_.try_emplace(std::move(key), out.rejected_.size());
    out.rejected_.push_back({std::move(name), std::move(reason)});
  };
  for (const CsvRow& row : table.rows) {
    const std::string& name = row.fields[name_column];
    const std::string& text = row.fields[tdp_column];
    std::string key = NormalizeCpuName(name);
    if (key.empty()) {
      out.rejected_.push_back({name, fmt::format("line {}: no processor name", row.line)});
      continue;
    }
    const auto value = ParseNumber(text);
    if (!value) {
      reject(std::move(key), name,
             fmt::format("line {}: TDP '{}' is not a number", row.line, text));
      continue;
    }
    if (*value <= 0 || *value > kMaxTdp.v) {
      reject(std::move(key), name,
             fmt::format("line {}: TDP {} W is not in (0, {:g}]", row.line, text, kMaxTdp.v));
      continue;
    }
    if (out.rejected_by_key_.contains(key)) continue;
    const auto known = out.entries_.find(key);
    if (known == out.entries_.end()) {
      out.entries_.emplace(std::move(key), Entry{name, Watts(*value)});
    } else if (known->second.tdp != Watts(*value)) {
      reject(key, name,
             fmt::format("line {}: {:g} W here and {:g} W for '{}'", row.line, *value,
                         known->second.tdp.v, known->second.name));
      out.entries_.erase(key);
    }
  }
  return out;
}

Result<TdpTable::Entry> TdpTable::Find(std::string_view cpu_name) const {
  const std::string key = NormalizeCpuName(cpu_name);
  if (const auto entry = entries_.find(key); entry != entries_.end()) return entry->second;
  if (const auto bad = rejected_by_key_.find(key); bad != rejected_by_key_.end()) {
    const Rejected& row = rejected_[bad->second];
    return Fail(Code::kNotFound, fmt::format("the TDP of '{}' in {} is unusable: '{}', {}",
                                             cpu_name, file_name_, row.name, row.reason));
  }
  return Fail(Code::kNotFound, fmt::format("the TDP of '{}' is not in {} ({} processors)", cpu_name,
                                           file_name_, entries_.size()));
}

}  // namespace lowtide
