// Thermal design power (TDP) by processor name, from a table `Name,TDP`.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "base/units.h"

namespace lowtide {

// The part of a processor's name that tells it from others, however it is written. Case, (R), (TM),
// the makers' names and repeated blanks do not matter; nor do the words CPU, Processor, APU,
// X-series, "64-Core", "Dual-Core", "12th Gen", "(OEM Only)"; nor what follows "@", " with ",
// "Radeon" or, in the first Xeon E5s, a final " 0".
//   "12th Gen Intel(R) Core(TM) i7-12700H"          -> "core i7-12700h"
//   "Intel(R) Xeon(R) CPU E5-2680 v4 @ 2.40GHz"     -> "xeon e5-2680 v4"
//   "AMD Ryzen 9 5900X 12-Core Processor"           -> "ryzen 9 5900x"
std::string NormalizeCpuName(std::string_view name);

class TdpTable {
 public:
  struct Entry {
    std::string name;  // as the table has it
    Watts tdp;         // of one package
  };

  // Reads CSV with the columns Name and TDP (watts). Rows whose TDP is no number or not in
  // (0, 2000] W are kept out and remembered, as are names that stand for several TDPs.
  static Result<TdpTable> Parse(std::string_view csv, std::string file_name);

  // The entry whose name means `cpu_name`, equal after NormalizeCpuName: never merely a similar
  // one. kNotFound, with the reason.
  Result<Entry> Find(std::string_view cpu_name) const;

  std::size_t Size() const { return entries_.size(); }

  struct Rejected {
    std::string name;
    std::string reason;
  };
  const std::vector<Rejected>& RejectedRows() const { return rejected_; }

 private:
  std::string file_name_;
  std::unordered_map<std::string, Entry> entries_;
  std::unordered_map<std::string, std::size_t> rejected_by_key_;
  std::vector<Rejected> rejected_;
};

}  // namespace lowtide
