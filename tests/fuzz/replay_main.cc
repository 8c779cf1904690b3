// Runs a fuzz target without libFuzzer: every seed, its short prefixes, and deterministic
// mutations, as many as the time allows. usage: fuzz_replay_<x> SEED_FOLDER
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include "base/file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

using std::string_view_literals::operator""sv;

namespace {

constexpr std::size_t kRounds = 400;  // of one prefix and one mutation of every seed
constexpr std::chrono::seconds kBudget(5);

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
  std::vector<std::string> seeds;
  for (const auto& file : files) {
    auto seed = lowtide::ReadFile(file);
    if (!seed) {
      fmt::print(stderr, "{}\n", seed.error().message);
      return 1;
    }
    seeds.push_back(*std::move(seed));
  }

  std::size_t runs = 1;
  Run("");
  for (const auto& seed : seeds) Run(seed);
  // Round by round, so that a slow target still sees something of every seed.
  std::mt19937 random(20220804);  // NOLINT(bugprone-random-generator-seed): the same every time
  const auto end = std::chrono::steady_clock::now() + kBudget;
  for (std::size_t round = 0; round < kRounds && std::chrono::steady_clock::now() < end; ++round) {
    for (const auto& seed : seeds) {
      if (round < seed.size()) Run(seed.substr(0, round));
      Run(Mutate(seed, random));
      runs += 2;
    }
  }
  fmt::print("{} seeds, {} inputs\n", seeds.size(), runs + seeds.size());
  return 0;
}
