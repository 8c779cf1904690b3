// Runs a fuzz target without libFuzzer: every seed, every short prefix of it, and deterministic
// mutations. usage: fuzz_replay_<x> SEED_FOLDER
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include "base/file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

using std::string_view_literals::operator""sv;

namespace {

constexpr std::size_t kMaxPrefixes = 256;
constexpr int kMutations = 400;

std::string g_input;  // what is being run, for the crash handler

void Run(std::string input) {
  g_input = std::move(input);
  // A copy of exactly the right size lets AddressSanitizer see a read past its end.
  const std::vector<std::uint8_t> bytes(g_input.begin(), g_input.end());
  LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
}

extern "C" void OnCrash(int signal_number) {
  constexpr std::string_view kSays = "fuzz target failed on this input:\n";
  [[maybe_unused]] ssize_t n = ::write(STDERR_FILENO, kSays.data(), kSays.size());
  n = ::write(STDERR_FILENO, g_input.data(), g_input.size());
  ::raise(signal_number);  // SA_RESETHAND: the default action now
}

std::string Mutate(const std::string& seed, std::mt19937& random) {
  constexpr std::string_view kSpecial = "\0\n\r\"',;:-+.eE0919zZ{}[]\\\xEF\xFF"sv;
  std::string out = seed;
  const auto below = [&random](std::size_t bound) { return random() % bound; };
  for (auto edits = 1 + below(4); edits > 0 && !out.empty(); --edits) {
    const auto at = below(out.size());
    switch (below(5)) {
      case 0: out[at] = static_cast<char>(below(256)); break;
      case 1: out[at] = kSpecial[below(kSpecial.size())]; break;
      case 2: out.insert(at, 1, kSpecial[below(kSpecial.size())]); break;
      case 3: out.erase(at, 1 + below(8)); break;
      default: out.insert(at, out.substr(below(out.size()), below(32))); break;
    }
  }
  return out;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    fmt::print(stderr, "usage: {} SEED_FOLDER\n", argv[0]);
    return 2;
  }
  struct sigaction action{};
  action.sa_handler = OnCrash;
  action.sa_flags = static_cast<int>(SA_RESETHAND | SA_NODEFER);
  for (const int fatal : {SIGILL, SIGTRAP, SIGABRT, SIGSEGV}) ::sigaction(fatal, &action, nullptr);

  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(argv[1])) files.push_back(entry);
  std::ranges::sort(files);
  if (files.empty()) {
    fmt::print(stderr, "{}: no seeds\n", argv[1]);
    return 1;
  }
  std::mt19937 random(20220804);  // NOLINT(bugprone-random-generator-seed): the same every time
  Run("");
  for (const auto& file : files) {
    const auto seed = lowtide::ReadFile(file);
    if (!seed) {
      fmt::print(stderr, "{}\n", seed.error().message);
      return 1;
    }
    Run(*seed);
    for (std::size_t n = 0; n < std::min(seed->size(), kMaxPrefixes); ++n) Run(seed->substr(0, n));
    for (int i = 0; i < kMutations; ++i) Run(Mutate(*seed, random));
  }
  fmt::print("{} seeds\n", files.size());
  return 0;
}
