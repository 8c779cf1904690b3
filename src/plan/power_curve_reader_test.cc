#include "plan/power_curve_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include "plan/zeus_data_for_tests.h"

namespace lowtide {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr std::string_view kSummary =
    "dataset,network,batch_size,optimizer,power_limit,time_per_epoch,average_power\n"
    "cifar,shuffle,128,adam,100,20,90\n"
    "cifar,shuffle,128,adam,200,10,150\n"
    "cifar,shuffle,256,adam,100,18,95\n"
    "squad,bert,128,adamw,100,40,99\n";

std::string ErrorOf(const Result<PowerCurve>& curve) {
  return curve ? "no error"
               : std::string(CodeName(curve.error().code)) + ": " + curve.error().message;
}

std::string SummaryError(std::string_view selector) {
  return ErrorOf(ReadPowerCurve(kSummary, "s.csv", selector));
}

TEST(SplitCurveArgumentTest, SplitsFileAndSelector) {
  const auto split = [](std::string_view text) {
    const auto argument = SplitCurveArgument(text);
    return argument.file + "|" + argument.selector;
  };
  EXPECT_EQ(split("curve.json"), "curve.json|");
  EXPECT_EQ(split("a/summary_power_a40.csv:imagenet/resnet50/128/adadelta"),
            "a/summary_power_a40.csv|imagenet/resnet50/128/adadelta");
  EXPECT_EQ(split("a:b/x.csv"), "a:b/x.csv|");
  EXPECT_EQ(split("a:b/X.CSV:job"), "a:b/X.CSV|job");
  EXPECT_EQ(split("x.csv:net:v2"), "x.csv|net:v2");
  EXPECT_EQ(split("plain:job"), "plain|job");
  EXPECT_EQ(split("plain"), "plain|");
  EXPECT_EQ(split("x.csv:"), "x.csv|");
  EXPECT_EQ(split(":"), "|");
  EXPECT_EQ(split(""), "|");
  EXPECT_EQ(split("profiles/A40+resnet18+gpu0,1,2,3.csv"), "profiles/A40+resnet18+gpu0,1,2,3.csv|");
}

TEST(ReadSummaryTest, GivesEpochsPerSecondAndAveragePower) {
  const PowerCurve curve = A40Resnet50(128);
  EXPECT_EQ(curve.device, "A40");
  EXPECT_EQ(curve.job, "imagenet/resnet50/128/adadelta");
  EXPECT_EQ(curve.gpus, 1);
  ASSERT_EQ(curve.points.size(), 9U);
  EXPECT_EQ(curve.MaxPower(), Watts(300));
  EXPECT_EQ(curve.Lowest().limit, Watts(100));
  const auto hand_made =
      ReadPowerCurve(kSummary, "x/summary_power_h100.csv", "cifar/shuffle/128/adam");
  ASSERT_TRUE(hand_made);
  EXPECT_EQ(hand_made->device, "H100");
  EXPECT_DOUBLE_EQ(hand_made->Highest().throughput_per_s, 0.1);
  EXPECT_DOUBLE_EQ(hand_made->Lowest().draw.v, 90);
}

TEST(ReadSummaryTest, PartsMayBeLeftOutWhileOneJobRemains) {
  for (const std::string_view selector :
       {"squad", "squad/bert", "*/bert", "//128/adamw", "*/*/*/adamw", "cifar/*/256", "squad///"}) {
    EXPECT_TRUE(ReadPowerCurve(kSummary, "s.csv", selector)) << selector;
  }
  EXPECT_EQ(ReadPowerCurve(kSummary, "s.csv", "*/*/256")->job, "cifar/shuffle/256/adam");
}

TEST(ReadSummaryTest, AnAmbiguousOrUnknownJobListsWhatThereIs) {
  EXPECT_THAT(
      SummaryError("cifar"),
      AllOf(HasSubstr("invalid_argument: s.csv: 2 jobs match 'cifar'"),
            HasSubstr("cifar/shuffle/128/adam, cifar/shuffle/256/adam"), Not(HasSubstr("squad"))));
  EXPECT_THAT(SummaryError(""), HasSubstr("3 jobs match"));
  EXPECT_THAT(SummaryError("imagenet"),
              AllOf(HasSubstr("no job matches 'imagenet'"), HasSubstr("squad/bert/128/adamw")));
  EXPECT_THAT(SummaryError("a/b/c/d/e"), HasSubstr("DATASET/NETWORK/BATCH_SIZE/OPTIMIZER"));
}

TEST(ReadSummaryTest, TheListInAnErrorIsBounded) {
  const auto text = ReadFile("data/zeus/summary_power_v100.csv").value();
  const std::string message = ErrorOf(ReadPowerCurve(text, "v100.csv", "none"));
  EXPECT_THAT(message, HasSubstr("and 56 more"));
  EXPECT_LT(message.size(), 800U);
}

TEST(ReadSummaryTest, EveryPublishedJobIsACurve) {
  std::set<std::string> jobs;
  for (const std::string file : {"summary_power_v100.csv", "summary_power_a40.csv"}) {
    const auto text = ReadFile("data/zeus/" + file).value();
    for (std::size_t at = text.find('\n') + 1; at < text.size(); at = text.find('\n', at) + 1) {
      std::string selector = text.substr(at, text.find('\n', at) - at);
      for (int cut = 0; cut < 3; ++cut) selector.resize(selector.rfind(','));
      for (char& c : selector) c = c == ',' ? '/' : c;
      if (!jobs.insert(file + ":" + selector).second) continue;
      const PowerCurve curve = ZeusCurve(file, selector);
      EXPECT_EQ(curve.job, selector);
      EXPECT_TRUE(curve.points.size() == 7 || curve.points.size() == 9 || curve.points.size() == 5);
    }
  }
  EXPECT_EQ(jobs.size(), 121U);
}

TEST(ReadSummaryTest, BadRowsNameFileLineAndColumn) {
  const std::string header =
      "dataset,network,batch_size,optimizer,power_limit,time_per_epoch,average_power\n";
  const auto error = [&](const std::string& row) {
    return ErrorOf(ReadPowerCurve(header + row, "s.csv"));
  };
  EXPECT_THAT(error("a,b,1,c,100,,90\n"), HasSubstr("s.csv:2: column 'time_per_epoch'"));
  EXPECT_THAT(error("a,b,1,c,100,0,90\n"), HasSubstr("'time_per_epoch' is 0; it must be above 0"));
  EXPECT_THAT(error("a,b,1,c,-1,2,90\n"), HasSubstr("'power_limit' is -1"));
  EXPECT_THAT(error("a,b,1,c,100,2,90\na,b,1,c,100,3,91\n"),
              HasSubstr("s.csv: power curve: limit 100"));
  EXPECT_THAT(error("a,b,1,c,100,1e-310,90\n"), HasSubstr("throughput is inf"));
  EXPECT_THAT(error(""), HasSubstr("no rows"));
  EXPECT_THAT(ErrorOf(ReadPowerCurve("time_per_epoch,x\n1,2\n", "s.csv")),
              HasSubstr("no column 'dataset'"));
}

TEST(ReadProfileTest, SumsTheEnergyOfAllGpus) {
  const PowerCurve curve = ZeusCurve("profiles/A40+resnet18+gpu0,1,2,3.csv");
  EXPECT_EQ(curve.device, "A40");
  EXPECT_EQ(curve.job, "resnet18");
  EXPECT_EQ(curve.gpus, 4);
  EXPECT_EQ(curve.MaxPower(), Watts(1200));
  ASSERT_EQ(curve.points.size(), 9U);
  const double energy_j =
      3991.396999999881 + 4170.069999992847 + 4255.888000011444 + 4102.665999993682;
  EXPECT_NEAR(EnergyPerUnit(curve.Highest()).v, energy_j, 1e-8);
  EXPECT_DOUBLE_EQ(TimePerUnit(curve.Highest()).count(), 33.27751154080033);
}

TEST(ReadProfileTest, ReadsTheNinePublishedProfiles) {
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator("data/zeus/profiles")) {
    const auto curve = ReadPowerCurve(ReadFile(entry.path()).value(), entry.path().string());
    ASSERT_TRUE(curve) << curve.error().message;
    EXPECT_EQ(curve->points.size(), curve->device == "A40" ? 9U : 7U);
    ++count;
  }
  EXPECT_EQ(count, 9);
}

TEST(ReadProfileTest, PassesOverOtherWindows) {
  const auto curve = ReadPowerCurve(
      "start_time,window_name,elapsed_time,gpu3_energy,cpu0_energy\r\n"
      "1,epoch,99,0,\r\n"
      "1,__GlobalPowerLimitOptimizer_250,10,2000,7\r\n"
      "1,__GlobalPowerLimitOptimizer_225.5,12,2100,7\r\n",
      "log.csv");
  ASSERT_TRUE(curve) << curve.error().message;
  ASSERT_EQ(curve->points.size(), 2U);
  EXPECT_EQ(curve->gpus, 1);
  EXPECT_EQ(curve->points[1].limit, Watts(225.5));
  EXPECT_DOUBLE_EQ(curve->points[0].draw.v, 200);
  EXPECT_EQ(curve->device, "");
}

TEST(ReadProfileTest, RefusesWhatItCannotUse) {
  const auto error = [](std::string_view text, std::string_view selector = {}) {
    return ErrorOf(ReadPowerCurve(text, "log.csv", selector));
  };
  EXPECT_THAT(error("window_name,elapsed_time\n__GlobalPowerLimitOptimizer_250,1\n"),
              HasSubstr("0 columns 'gpu<i>_energy'"));
  EXPECT_THAT(error("window_name,elapsed_time,gpu0_energy\nepoch,1,2\n"),
              HasSubstr("no window named"));
  EXPECT_THAT(error("window_name,elapsed_time,gpu0_energy\n__GlobalPowerLimitOptimizer_x,1,2\n"),
              HasSubstr("log.csv:2: window '__GlobalPowerLimitOptimizer_x'"));
  EXPECT_THAT(error("window_name,elapsed_time,gpu0_energy\n__GlobalPowerLimitOptimizer_9,1,0\n"),
              HasSubstr("'gpu0_energy' is 0"));
  EXPECT_THAT(
      error("window_name,elapsed_time,gpu0_energy\n__GlobalPowerLimitOptimizer_9,1,1\n", "a/b"),
      HasSubstr("takes no selector, got 'a/b'"));
  EXPECT_THAT(error("time,load\n1,2\n"), HasSubstr("not a power curve"));
  EXPECT_THAT(error(""), HasSubstr("no header line"));
}

TEST(ReadJsonTest, ReadsZeusMeasurements) {
  const auto curve =
      ReadPowerCurve(R"({"measurements":[{"power_limit":300,"energy":6000,"time":24},)"
                     R"({"power_limit":275,"energy":5500.5,"time":25}]})",
                     "profile.json", {}, 2);
  ASSERT_TRUE(curve) << curve.error().message;
  EXPECT_EQ(curve->gpus, 2);
  EXPECT_DOUBLE_EQ(curve->Highest().draw.v, 250);
  EXPECT_DOUBLE_EQ(TimePerUnit(curve->Lowest()).count(), 25);
}

TEST(ReadJsonTest, OwnFormComesBackAsItWasWritten) {
  const PowerCurve curve = ZeusCurve("profiles/V100+resnet50+gpu0,1.csv");
  const auto again = ReadPowerCurve(WritePowerCurve(curve), "curve.json");
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->device, curve.device);
  EXPECT_EQ(again->job, curve.job);
  EXPECT_EQ(again->gpus, 2);
  ASSERT_EQ(again->points.size(), curve.points.size());
  for (std::size_t i = 0; i < curve.points.size(); ++i) {
    EXPECT_EQ(again->points[i].limit, curve.points[i].limit);
    EXPECT_EQ(again->points[i].throughput_per_s, curve.points[i].throughput_per_s);
    EXPECT_EQ(again->points[i].draw, curve.points[i].draw);
  }
}

TEST(ReadJsonTest, ReadsTheCurveOfARunsReport) {
  const auto curve = ReadPowerCurve(
      R"({"run_id":"01","name":"train","components":[{"name":"package-0","kind":"cpu"},)"
      R"({"name":"NVIDIA H200","kind":"gpu"},{"name":"NVIDIA H200","kind":"gpu"}],)"
      R"("power_curve":[{"limit_w":700,"throughput_per_s":12.5,"draw_w":1300}]})",
      "report.json", {}, 7);
  ASSERT_TRUE(curve) << curve.error().message;
  EXPECT_EQ(curve->device, "NVIDIA H200");
  EXPECT_EQ(curve->job, "train");
  EXPECT_EQ(curve->gpus, 2) << "what the file says wins";
}

TEST(ReadJsonTest, ErrorsNameTheElement) {
  const auto error = [](std::string_view text, std::string_view selector = {}) {
    return ErrorOf(ReadPowerCurve(text, "c.json", selector));
  };
  EXPECT_THAT(error(R"({"power_curve":[]})"), HasSubstr("'power_curve' is empty"));
  EXPECT_THAT(error(R"({"power_curve":null})"), HasSubstr("'power_curve' is empty"));
  EXPECT_THAT(error(R"({"power_curve":[{"limit_w":1,"draw_w":1}]})"),
              HasSubstr("c.json: power_curve[0]: 'throughput_per_s' must be a number above 0"));
  EXPECT_THAT(error(R"({"power_curve":[3]})"), HasSubstr("power_curve[0]: 'limit_w'"));
  EXPECT_THAT(error(R"({"measurements":[{"power_limit":1,"energy":-2,"time":1}]})"),
              HasSubstr("measurements[0]: 'energy' must be a number above 0, not -2"));
  EXPECT_THAT(error(R"({"measurements":[]})"), HasSubstr("no points"));
  EXPECT_THAT(
      error(R"({"gpus":1.5,"power_curve":[{"limit_w":1,"throughput_per_s":1,"draw_w":1}]})"),
      HasSubstr("'gpus' must be a whole number"));
  EXPECT_THAT(error("[1]"), HasSubstr("not a power curve"));
  EXPECT_THAT(error("{"), HasSubstr("c.json"));
  EXPECT_THAT(error(R"({"power_curve":[]})", "a"), HasSubstr("takes no selector"));
}

}  // namespace
}  // namespace lowtide
