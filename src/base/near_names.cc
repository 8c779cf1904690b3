#include "base/near_names.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/sort_stably.h"

namespace lowtide {
namespace {

constexpr std::size_t kMostNames = 6;
constexpr std::size_t kFarthest = 2;

std::string Upper(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  }
  return out;
}

}  // namespace

std::size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1);
  std::vector<std::size_t> last(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(last.begin(), last.end(), 0);
  for (std::size_t i = 0; i < a.size(); ++i) {
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = last[j] + (a[i] == b[j] ? 0 : 1);
      row[j + 1] = std::min({last[j + 1] + 1, row[j] + 1, replaced});
      if (i > 0 && j > 0 && a[i] == b[j - 1] && a[i - 1] == b[j]) {
        row[j + 1] = std::min(row[j + 1], before[j - 1] + 1);
      }
    }
    std::swap(before, last);
    std::swap(last, row);
  }
  return last[b.size()];
}

std::vector<std::string> NearNames(std::string_view text, std::span<const std::string> candidates) {
  // Nothing as long as this is a name of ours, and the distance takes time.
  constexpr std::size_t kLongest = 100;
  if (text.empty() || text.size() > kLongest) return {};
  const std::string wanted = Upper(text);
  const std::size_t most = wanted.size() < 3 ? 0 : (wanted.size() < 4 ? 1 : kFarthest);
  std::vector<std::pair<std::size_t, const std::string*>> ranked;
  for (const std::string& candidate : candidates) {
    const std::string name = Upper(candidate);
    if (wanted.size() >= 2 && name.find(wanted) != std::string::npos) {
      ranked.emplace_back(0, &candidate);
    } else if (const auto distance = EditDistance(wanted, name); distance <= most) {
      ranked.emplace_back(distance, &candidate);
    }
  }
  SortStably(ranked, [](const auto& entry) { return entry.first; });
  std::vector<std::string> out;
  for (const auto& [distance, name] : ranked) {
    if (out.size() < kMostNames) out.push_back(*name);
  }
  return out;
}

std::string DidYouMean(std::string_view text, std::span<const std::string> candidates) {
  const auto near = NearNames(text, candidates);
  if (near.empty()) return {};
  if (near.size() == 1) return fmt::format("did you mean {}?", near.front());
  return fmt::format("did you mean {} or {}?", fmt::join(near.begin(), near.end() - 1, ", "),
                     near.back());
}

}  // namespace lowtide
