#include "device/gpu_names.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>

namespace lowtide::gpu_names {
namespace {

constexpr std::string_view kSpaces = " \t\r\n\v\f";
constexpr std::size_t kMaxQuoted = 60;
constexpr std::string_view kGpuPrefix = "GPU-";
constexpr std::string_view kMigGpuPrefix = "MIG-GPU-";

std::string_view Trim(std::string_view text) {
  const auto first = text.find_first_not_of(kSpaces);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kSpaces) - first + 1);
}

char Lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool Same(char a, char b, Case letters) {
  return letters == Case::kExact ? a == b : Lower(a) == Lower(b);
}

struct PciAddress {
  unsigned int domain = 0;
  unsigned int bus = 0;
  unsigned int device = 0;
  unsigned int function = 0;
  bool operator==(const PciAddress&) const = default;
};

std::optional<unsigned int> ParseHex(std::string_view text, std::size_t max_digits) {
  unsigned int value = 0;
  if (text.empty() || text.size() > max_digits) return std::nullopt;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// [domain:]bus:device[.function], in hexadecimal.
std::optional<PciAddress> ParsePci(std::string_view text) {
  std::vector<std::string_view> parts;
  for (std::size_t from = 0;;) {
    const auto colon = text.find(':', from);
    parts.push_back(text.substr(from, colon - from));
    if (colon == std::string_view::npos) break;
    from = colon + 1;
  }
  if (parts.size() != 2 && parts.size() != 3) return std::nullopt;
  auto last = parts.back();
  const auto dot = last.find('.');
  const auto function =
      dot == std::string_view::npos ? std::optional(0U) : ParseHex(last.substr(dot + 1), 1);
  const auto device = ParseHex(last.substr(0, dot), 2);
  const auto bus = ParseHex(parts[parts.size() - 2], 2);
  const auto domain = parts.size() == 3 ? ParseHex(parts[0], 8) : std::optional(0U);
  if (!function || !device || !bus || !domain) return std::nullopt;
  return PciAddress{*domain, *bus, *device, *function};
}

void Add(Match& match, std::size_t gpu, std::optional<std::size_t> mig) {
  ++match.candidates;
  match.gpu = match.candidates == 1 ? std::optional(gpu) : std::nullopt;
  match.mig = match.candidates == 1 ? mig : std::nullopt;
}

// "MIG-GPU-<uuid>/<gi>/<ci>": the form of drivers before R470.
Match FindOldMig(std::span<const GpuIdentity> gpus, std::string_view text, Case letters) {
  const auto slash = text.find('/');
  const auto second = slash == std::string_view::npos ? slash : text.find('/', slash + 1);
  if (second == std::string_view::npos) return {};
  const auto uuid = text.substr(4, slash - 4);  // from "GPU-" on
  const auto gi = ParseIndex(text.substr(slash + 1, second - slash - 1));
  const auto ci = ParseIndex(text.substr(second + 1));
  Match match;
  if (!gi || !ci) return match;
  for (std::size_t g = 0; g < gpus.size(); ++g) {
    if (gpus[g].uuid.size() != uuid.size() || !StartsWith(gpus[g].uuid, uuid, letters)) continue;
    for (std::size_t m = 0; m < gpus[g].mig.size(); ++m) {
      const auto& mig = gpus[g].mig[m];
      if (mig.gpu_instance == gi && mig.compute_instance == ci) Add(match, g, m);
    }
  }
  return match;
}

}  // namespace

bool StartsWith(std::string_view text, std::string_view start, Case letters) {
  return text.size() >= start.size() &&
         std::equal(start.begin(), start.end(), text.begin(),
                    [&](char a, char b) { return Same(a, b, letters); });
}

std::vector<std::string_view> SplitList(std::string_view text) {
  std::vector<std::string_view> out;
  if (Trim(text).empty()) return out;
  for (std::size_t from = 0;;) {
    const auto comma = text.find(',', from);
    out.push_back(Trim(text.substr(from, comma - from)));
    if (comma == std::string_view::npos) return out;
    from = comma + 1;
  }
}

std::optional<unsigned int> ParseIndex(std::string_view text) {
  unsigned int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<IndexRange> ParseIndexRange(std::string_view text) {
  const auto dash = text.find('-');
  const auto first = ParseIndex(text.substr(0, dash));
  const auto last = dash == std::string_view::npos ? first : ParseIndex(text.substr(dash + 1));
  if (!first || !last || *first > *last) return std::nullopt;
  return IndexRange{*first, *last};
}

std::optional<std::size_t> FindIndex(std::span<const GpuIdentity> gpus, unsigned int index) {
  for (std::size_t i = 0; i < gpus.size(); ++i) {
    if (gpus[i].index == index) return i;
  }
  return std::nullopt;
}

Match FindGpuUuid(std::span<const GpuIdentity> gpus, std::string_view text, Case letters) {
  Match match;
  if (text.size() <= kGpuPrefix.size()) return match;
  for (std::size_t i = 0; i < gpus.size(); ++i) {
    if (StartsWith(gpus[i].uuid, text, letters)) Add(match, i, std::nullopt);
  }
  return match;
}

Match FindMig(std::span<const GpuIdentity> gpus, std::string_view text, Case letters) {
  Match match;
  if (text.size() <= 4) return match;
  for (std::size_t g = 0; g < gpus.size(); ++g) {
    for (std::size_t m = 0; m < gpus[g].mig.size(); ++m) {
      const auto& uuid = gpus[g].mig[m].uuid;
      if (!StartsWith(uuid, text, letters)) continue;
      // An exact name is no beginning of another: ".../1/1" beside ".../1/10".
      if (uuid.size() == text.size()) return Match{g, m, 1};
      Add(match, g, m);
    }
  }
  if (match.candidates == 0 && StartsWith(text, kMigGpuPrefix, letters)) {
    return FindOldMig(gpus, text, letters);
  }
  return match;
}

Match FindPciBusId(std::span<const GpuIdentity> gpus, std::string_view text) {
  Match match;
  const auto wanted = ParsePci(text);
  if (!wanted) return match;
  for (std::size_t i = 0; i < gpus.size(); ++i) {
    if (ParsePci(gpus[i].pci_bus_id) == wanted) Add(match, i, std::nullopt);
  }
  return match;
}

std::string Quoted(std::string_view text) {
  std::string shown(text.substr(0, kMaxQuoted));
  // Environment variables may hold anything; a terminal gets none of it.
  std::replace_if(
      shown.begin(), shown.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; }, '?');
  return fmt::format("\"{}{}\"", shown, text.size() > kMaxQuoted ? "..." : "");
}

std::string ListOf(std::span<const GpuIdentity> gpus) {
  std::string out;
  for (const auto& gpu : gpus) {
    if (!out.empty()) out += ", ";
    if (gpu.uuid.empty()) {
      out += fmt::format("{} (cannot be used)", gpu.index);
      continue;
    }
    out += fmt::format("{} {}", gpu.index, gpu.uuid);
    std::string about = gpu.name;
    if (!gpu.pci_bus_id.empty()) about += (about.empty() ? "" : ", ") + gpu.pci_bus_id;
    if (!about.empty()) out += fmt::format(" ({})", about);
    for (const auto& mig : gpu.mig) out += ", " + mig.uuid;
  }
  return out.empty() ? "none" : out;
}

}  // namespace lowtide::gpu_names
