#include "device/cpu_model/tdp_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/embedded/embedded.h"

namespace lowtide {
namespace {

using ::testing::HasSubstr;

TdpTable Shipped() {
  auto table = TdpTable::Parse(EmbeddedFile("hardware/cpu_power.csv").value(), "cpu_power.csv");
  EXPECT_TRUE(table) << table.error().message;
  return *std::move(table);
}

TEST(NormalizeCpuNameTest, KeepsWhatTellsProcessorsApart) {
  const std::pair<std::string_view, std::string_view> cases[] = {
      {"Intel(R) Xeon(R) CPU E5-2680 v4 @ 2.40GHz", "xeon e5-2680 v4"},
      {"Intel(R) Xeon(R) CPU E5-2680 0 @ 2.70GHz", "xeon e5-2680"},
      {"12th Gen Intel(R) Core(TM) i7-12700H", "core i7-12700h"},
      {"Intel(R) Core(TM)2 Duo CPU     E8400  @ 3.00GHz", "core 2 duo e8400"},
      {"INTEL(R) XEON(R) PLATINUM 8568Y+", "xeon platinum 8568y+"},
      {"AMD Ryzen 9 5900X 12-Core Processor", "ryzen 9 5900x"},
      {"AMD Ryzen 9 5900 (OEM Only)", "ryzen 9 5900"},
      {"AMD Ryzen 7 5800U with Radeon Graphics", "ryzen 7 5800u"},
      {"AMD A10-7850K Radeon R7, 12 Compute Cores 4C+8G", "a10-7850k"},
      {"AMD A6-6420K APU with Radeon(tm) HD Graphics", "a6-6420k"},
      {"Quad-Core AMD Opteron(tm) Processor 2356", "opteron 2356"},
      {"Intel Core i9-7920X X-series", "core i9-7920x"},
      {"AMD Ryzen 5 6600HS\xe2\x80\x8b", "ryzen 5 6600hs"},
      {"Intel Atom\xc2\xa0"
       "E625CT",
       "atom e625ct"},
      {"Intel(R) Xeon(R) Processor", "xeon"},
      {"AMD 7th Gen A6-9500E APU", "a6-9500e"},
      {"", ""},
      {"  @ 2 GHz", ""},
      {"with", "with"},
  };
  for (const auto& [name, key] : cases) EXPECT_EQ(NormalizeCpuName(name), key) << name;
}

TEST(TdpTableTest, FindsWhatProcCpuinfoCallsIt) {
  const TdpTable table = Shipped();
  const std::pair<std::string_view, double> cases[] = {
      {"Intel(R) Xeon(R) CPU E5-2680 v4 @ 2.40GHz", 120},
      {"Intel(R) Xeon(R) Gold 6252N CPU @ 2.30GHz", 150},
      {"AMD EPYC 7742 64-Core Processor", 225},
      {"AMD Ryzen 9 5900X 12-Core Processor", 105},
      {"12th Gen Intel(R) Core(TM) i7-12700K", 190},
      {"Intel(R) Xeon(R) CPU Max 9480", 350},
      {"Apple M1", 10},
  };
  for (const auto& [name, watts] : cases) {
    const auto entry = table.Find(name);
    ASSERT_TRUE(entry) << entry.error().message;
    EXPECT_EQ(entry->tdp, Watts(watts)) << name << " as " << entry->name;
  }
}

TEST(TdpTableTest, UnknownNamesAreNeverGuessed) {
  const TdpTable table = Shipped();
  for (const std::string_view name :
       {"Intel(R) Xeon(R) Processor", "Intel(R) Xeon(R) CPU @ 2.20GHz", "AMD EPYC-Rome Processor",
        "AMD EPYC 7742X 64-Core Processor", "Ryzen", "", "QEMU Virtual CPU version 2.5+"}) {
    const auto entry = table.Find(name);
    ASSERT_FALSE(entry) << name << " found as " << entry->name;
    EXPECT_EQ(entry.error().code, Code::kNotFound);
    EXPECT_THAT(entry.error().message, HasSubstr("cpu_power.csv"));
  }
}

TEST(TdpTableTest, TheTrapsOfTheShippedTable) {
  const TdpTable table = Shipped();
  for (const std::string_view name : {"Intel(R) Celeron(R) 1000A", "Intel Celeron 1100A",
                                      "Intel Celeron 1200", "Intel Celeron 1400"}) {
    const auto entry = table.Find(name);
    ASSERT_FALSE(entry) << name;
    EXPECT_THAT(entry.error().message, HasSubstr("is not a number"));
  }
  EXPECT_THAT(table.Find("Intel Celeron 1400").error().message, HasSubstr("'33.34.8'"));
  const auto zero = table.Find("Intel Quark Microcontroller D1000");
  ASSERT_FALSE(zero);
  EXPECT_THAT(zero.error().message, HasSubstr("TDP 0.0 W is not in (0, 2000]"));
}

TEST(TdpTableTest, MeansOneTdpOrNone) {
  const auto table = TdpTable::Parse(
      "Name,TDP\nAMD X1,10\nX1 Processor,10\nIntel Y,20\nY @ 3GHz,25\nY CPU,20\n", "t.csv");
  ASSERT_TRUE(table);
  EXPECT_EQ(table->Size(), 1U);
  EXPECT_EQ(table->Find("X1")->tdp, Watts(10));
  EXPECT_EQ(table->Find("X1")->name, "AMD X1");
  const auto ambiguous = table->Find("Y");
  ASSERT_FALSE(ambiguous);
  EXPECT_THAT(ambiguous.error().message, HasSubstr("25 W here and 20 W for 'Intel Y'"));
}

TEST(TdpTableTest, TheColumnsMayBeInAnyOrder) {
  const auto table = TdpTable::Parse("x,TDP,Name\n1,15.5,Chip\n", "t.csv");
  ASSERT_TRUE(table);
  EXPECT_EQ(table->Find("chip")->tdp, Watts(15.5));
}

TEST(TdpTableTest, RefusesWhatIsNoTable) {
  EXPECT_FALSE(TdpTable::Parse("", "t.csv"));
  EXPECT_THAT(TdpTable::Parse("Name,Watts\nA,1\n", "t.csv").error().message, HasSubstr("TDP"));
  EXPECT_THAT(TdpTable::Parse("Name,TDP\nA,1,2\n", "t.csv").error().message, HasSubstr("2"));
}

TEST(TdpTableTest, RejectsValuesOutOfBounds) {
  const auto table = TdpTable::Parse("Name,TDP\nA,-5\nB,2000.1\nC,2000\nD,\n,5\nE,nan\n", "t.csv");
  ASSERT_TRUE(table);
  EXPECT_EQ(table->Size(), 1U);
  EXPECT_EQ(table->RejectedRows().size(), 5U);
  EXPECT_TRUE(table->Find("C"));
}

}  // namespace
}  // namespace lowtide
