// The four renderings of a report, against golden files and on the cases that break them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/csv.h"
#include "base/json.h"
#include "run/counterfactuals.h"
#include "run/golden_test_util.h"
#include "run/power_slices.h"
#include "run/report_charts.h"
#include "run/report_codecarbon.h"
#include "run/report_html.h"
#include "run/report_json.h"
#include "run/report_test_data.h"
#include "run/report_text.h"
#include "run/svg_chart.h"

namespace lowtide {
namespace {

using testing::HasSubstr;
using testing::Not;

Report Steered() {
  RunData run = SteeredRun();
  auto counterfactuals = RunCounterfactuals(run);
  return BuildReport(std::move(run), std::move(counterfactuals));
}
Report NoIntensity() { return BuildReport(RunWithoutIntensity(), {}); }
Report NoEnergy() { return BuildReport(RunWithoutEnergy(), {}); }

TEST(ReportJson, MatchesTheGoldenFiles) {
  ExpectGolden("steered.json", DumpJsonPretty(ReportJson(Steered())) + "\n");
  ExpectGolden("no_intensity.json", DumpJsonPretty(ReportJson(NoIntensity())) + "\n");
  ExpectGolden("no_energy.json", DumpJsonPretty(ReportJson(NoEnergy())) + "\n");
}

TEST(ReportJson, UnknownIsNullNotZeroOrAbsent) {
  const Json json = ReportJson(NoEnergy());
  for (const char* key :
       {"exit_code", "ended_at", "energy_kwh", "carbon_g", "pue", "facility_energy_kwh"}) {
    ASSERT_TRUE(json.contains(key)) << key;
    EXPECT_TRUE(json[key].is_null()) << key;
  }
  EXPECT_EQ(json["state"], "interrupted");
  EXPECT_TRUE(json["components"][0]["energy_j"].is_null());
  EXPECT_TRUE(json["epochs"][0]["energy_j"].is_null());
  EXPECT_TRUE(json["epochs"][0]["metrics"]["loss"].is_null());
  EXPECT_TRUE(json["intensity"]["mean_g_per_kwh"].is_null());
  const Json list = ReportSummaryJson(NoEnergy());
  EXPECT_FALSE(list.contains("epochs"));
  EXPECT_TRUE(list.contains("carbon_missing_reason"));
}

TEST(ReportJson, SaysTheNumbersOfTheRun) {
  const Report report = Steered();
  const Json json = ReportJson(report);
  EXPECT_DOUBLE_EQ(json["energy_kwh"].get<double>(), report.energy->v / 3.6e6);
  EXPECT_DOUBLE_EQ(json["facility_energy_kwh"].get<double>(), report.energy->v * 1.25 / 3.6e6);
  double epochs_j = 0;
  for (const auto& epoch : json["epochs"]) epochs_j += epoch["energy_j"].get<double>();
  EXPECT_NEAR(epochs_j, report.energy->v, 1e-6);
  EXPECT_EQ(json["counterfactuals"].size(), 2U);
  EXPECT_EQ(json["started_at"], "2026-11-30T12:00:00Z");
}

TEST(ReportText, MatchesTheGoldenFiles) {
  ExpectGolden("steered.txt",
               FormatEpochTable(Steered()) + "\n" + FormatSummary(Steered(), TextStyle::kPlain));
  ExpectGolden("no_intensity.txt", FormatSummary(NoIntensity(), TextStyle::kPlain));
  ExpectGolden("no_energy.txt",
               FormatEpochTable(NoEnergy()) + "\n" + FormatSummary(NoEnergy(), TextStyle::kPlain));
  ExpectGolden("list.txt", FormatRunListHeader() + "\n" + FormatRunListRow(Steered()) + "\n" +
                               FormatRunListRow(NoIntensity()) + "\n" +
                               FormatRunListRow(NoEnergy()) + "\n");
}

TEST(ReportText, ColourIsOnlyInTheColouredStyle) {
  EXPECT_THAT(FormatSummary(Steered(), TextStyle::kPlain), Not(HasSubstr("\x1b")));
  EXPECT_THAT(FormatSummary(Steered(), TextStyle::kColour), HasSubstr("\x1b[1m"));
}

TEST(ReportText, ControlCharactersDoNotReachTheTerminal) {
  RunData run = SteeredRun();
  run.record.name = "evil\x1b[2Jname\r\n";
  run.epochs[0].metrics = {{"a\x07", 1.0}};
  const Report report = BuildReport(std::move(run), {});
  for (const std::string& text : {FormatSummary(report, TextStyle::kPlain),
                                  FormatEpochTable(report), FormatRunListRow(report)}) {
    EXPECT_THAT(text, Not(HasSubstr("\x1b")));
    EXPECT_THAT(text, Not(HasSubstr("\r")));
    EXPECT_THAT(text, Not(HasSubstr("\x07")));
  }
}

TEST(Codecarbon, MatchesTheGoldenFileAndItsColumns) {
  const auto berlin = LocalTimeAt(std::chrono::minutes(60));
  const std::string text = CodecarbonHeader() + CodecarbonRow(Steered(), berlin) +
                           CodecarbonRow(NoIntensity(), berlin) + CodecarbonRow(NoEnergy(), berlin);
  ExpectGolden("codecarbon.csv", text);
  const auto table = ParseCsv(text, "codecarbon.csv");
  ASSERT_TRUE(table) << table.error().message;
  ASSERT_EQ(table->header.size(), 38U);
  ASSERT_EQ(table->rows.size(), 3U);
  const auto field = [&](std::size_t row, const char* column) {
    return table->rows[row].fields[*table->Find(column)];
  };
  const Report report = Steered();
  EXPECT_EQ(field(0, "timestamp"), "2026-11-30T13:20:00");
  EXPECT_EQ(field(0, "duration"), "1200");
  EXPECT_DOUBLE_EQ(*ParseNumber(field(0, "emissions")), report.carbon->v / 1000);
  EXPECT_DOUBLE_EQ(*ParseNumber(field(0, "emissions_rate")), report.carbon->v / 1000 / 1200);
  // Energies include PUE, powers do not.
  EXPECT_DOUBLE_EQ(*ParseNumber(field(0, "energy_consumed")), report.energy->v / 3.6e6 * 1.25);
  EXPECT_DOUBLE_EQ(*ParseNumber(field(0, "cpu_energy")), 42.5 * 1200 / 3.6e6 * 1.25);
  EXPECT_DOUBLE_EQ(*ParseNumber(field(0, "cpu_power")), 42.5);
  EXPECT_EQ(field(0, "ram_energy"), "");  // missing, not 0
  EXPECT_EQ(field(0, "ram_power"), "");
  EXPECT_EQ(field(0, "cpu_model"), "AMD EPYC 7763, 2.45 GHz");  // quoted, with its comma
  EXPECT_EQ(field(0, "gpu_model"), "2 x NVIDIA A40");
  EXPECT_EQ(field(0, "country_iso_code"), "USA");
  EXPECT_EQ(field(0, "tracking_mode"), "process");
  EXPECT_EQ(field(0, "pue"), "1.25");
  EXPECT_EQ(field(1, "emissions"), "");
  EXPECT_NE(field(1, "energy_consumed"), "");
  EXPECT_EQ(field(1, "country_name"), "");
  EXPECT_EQ(field(2, "energy_consumed"), "");
  EXPECT_EQ(field(2, "gpu_energy"), "");
  EXPECT_EQ(field(2, "timestamp"), "2026-11-30T13:00:42");
  // Without a GPU both are empty, as codecarbon leaves them.
  EXPECT_EQ(field(2, "gpu_count"), "");
  EXPECT_EQ(field(2, "gpu_model"), "");
}

TEST(Codecarbon, CountsAGpuThatIsThereButCannotBeMeasured) {
  RunData run = RunWithoutEnergy();
  run.components[0].uuid = "GPU-1";
  run.components[0].name = "NVIDIA A40";
  const auto table = ParseCsv(
      CodecarbonHeader() + CodecarbonRow(BuildReport(std::move(run), {}), LocalTimeAt({})), "x");
  ASSERT_TRUE(table) << table.error().message;
  EXPECT_EQ(table->rows[0].fields[*table->Find("gpu_count")], "1");
  EXPECT_EQ(table->rows[0].fields[*table->Find("gpu_model")], "1 x NVIDIA A40");
  EXPECT_EQ(table->rows[0].fields[*table->Find("gpu_energy")], "");
}

TEST(Codecarbon, QuotesWhatNeedsIt) {
  RunData run = SteeredRun();
  run.record.name = "a,\"b\"\nc";
  const auto table =
      ParseCsv(CodecarbonHeader() + CodecarbonRow(BuildReport(std::move(run), {}),
                                                  LocalTimeAt(std::chrono::minutes(-90))),
               "x");
  ASSERT_TRUE(table) << table.error().message;
  EXPECT_EQ(table->rows[0].fields[1], "a,\"b\"\nc");
  EXPECT_EQ(table->rows[0].fields[0], "2026-11-30T10:50:00");
}

TEST(ReportHtml, MatchesTheGoldenFiles) {
  ExpectGolden("steered.html", ReportHtml(Steered()));
  ExpectGolden("no_intensity.html", ReportHtml(NoIntensity()));
  ExpectGolden("no_energy.html", ReportHtml(NoEnergy()));
}

TEST(ReportHtml, IsSelfContainedAndEscaped) {
  RunData run = SteeredRun();
  const std::string bad = "<script>alert('x')</script>&\"";
  run.record.name = bad;
  run.record.command = {bad};
  run.record.host = bad;
  run.record.zone = bad;
  run.record.policy = bad;
  run.record.settings_json = R"({"<script>":"<script>"})";
  run.components[0].name = bad;
  run.components[0].note = bad;
  run.components[0].uuid = bad;
  run.components[0].kind = bad;
  run.components[0].method = bad;
  run.epochs[0].metrics = {{bad, 1.0}};
  run.decisions[0].reason = bad;
  run.events[0].message = bad;
  run.intensity[0].source = bad;
  run.intensity[0].kind = bad;
  std::vector<CounterfactualLine> lines = {{bad, Watts(300), Grams(1), Joules(1), Seconds(1)}};
  const std::string html = ReportHtml(BuildReport(std::move(run), std::move(lines)));
  EXPECT_THAT(html, Not(HasSubstr("<script")));
  EXPECT_THAT(html, HasSubstr("&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;&amp;&quot;"));
  // The only address is the name of the SVG namespace.
  std::string rest = html;
  const std::string ns = "xmlns=\"http://www.w3.org/2000/svg\"";
  for (auto at = rest.find(ns); at != std::string::npos; at = rest.find(ns)) {
    rest.erase(at, ns.size());
  }
  for (const char* outside : {"http:", "https:", "src=", "url(", "@import", "<link"}) {
    EXPECT_THAT(rest, Not(HasSubstr(outside)));
  }
}

TEST(ReportHtml, ManySamplesAndEpochsMakeASmallPage) {
  RunData run = SteeredRun();
  run.samples.clear();
  run.record.time_scale = 1;
  const std::int64_t start = UnixMillis(run.record.started_at) / 1000;
  for (int s = 0; s < 200'000; ++s) {
    // One second in a hundred thousand is a peak that the picture must keep.
    run.samples.push_back({0, start + s, 1, s == 123'456 ? 900.0 : 250.0, 300});
  }
  run.totals.duration = Seconds(200'000);
  const EpochRecord epoch = run.epochs[0];
  run.epochs.assign(3000, epoch);
  const Report report = BuildReport(std::move(run), {});
  const std::string html = ReportHtml(report);
  EXPECT_LT(html.size(), 600'000U);
  EXPECT_THAT(html, HasSubstr("The first 1000 of 3000 rows"));
  const auto buckets = DownSample(PowerOverTime(report.run), static_cast<double>(start),
                                  static_cast<double>(start) + 200'000, 880);
  EXPECT_LE(buckets.size(), 880U);
  double highest = 0;
  for (const auto& b : buckets) highest = std::max(highest, b.high_w);
  EXPECT_EQ(highest, 900);
}

TEST(ReportHtml, ANearlyEmptyRunHasAPage) {
  RunData run;
  run.record.run_id = "01A";
  const std::string html = ReportHtml(BuildReport(std::move(run), {}));
  EXPECT_THAT(html, HasSubstr("Lowtide run 01A"));
  EXPECT_THAT(html, Not(HasSubstr("<svg")));
}

TEST(PowerSlices, AddComponentsAndCutTheEdges) {
  RunData run;
  run.record.started_at = TimeOf("2026-11-30T12:00:00.500Z");
  run.totals.duration = Seconds(2.6);
  ComponentRecord gpu;
  gpu.kind = "gpu";
  ComponentRecord cpu;
  cpu.index = 1;
  cpu.kind = "cpu";
  ComponentRecord uncounted;
  uncounted.index = 2;
  uncounted.kind = "cpu";
  uncounted.counted = false;
  run.components = {gpu, cpu, uncounted};
  const std::int64_t start = UnixMillis(run.record.started_at) / 1000;
  run.samples = {{0, start, 1, 100, 250},   {0, start + 1, 1, 300, 200},
                 {0, start + 3, 1, 5, 200}, {1, start, 1, 10, std::nullopt},
                 {1, start + 1, 1, 20, {}}, {2, start + 1, 1, 999, {}}};
  const auto slices = PowerOverTime(run);
  ASSERT_EQ(slices.size(), 2U);              // the last 0.1 s are too short
  EXPECT_DOUBLE_EQ(slices[0].total_w, 220);  // 110 J in the half second that the run had begun
  EXPECT_DOUBLE_EQ(*slices[0].gpu_w, 200);
  EXPECT_EQ(slices[0].limit_w, 250);
  EXPECT_DOUBLE_EQ(slices[1].total_w, 320);
}

TEST(PowerSlices, GapsBreakTheLine) {
  const std::vector<PowerSlice> slices = {
      {0, 1, 100, {}, {}}, {1, 2, 200, {}, {}}, {10, 11, 50, {}, {}}};
  const auto buckets = DownSample(slices, 0, 20, 2);
  ASSERT_EQ(buckets.size(), 2U);
  EXPECT_EQ(buckets[0].mean_w, 150);
  EXPECT_EQ(buckets[0].low_w, 100);
  EXPECT_EQ(buckets[0].high_w, 200);
  EXPECT_FALSE(buckets[0].after_gap);
  EXPECT_TRUE(buckets[1].after_gap);
  EXPECT_TRUE(DownSample(slices, 5, 5, 2).empty());
}

TEST(SvgChart, AxesHaveRoundTicks) {
  const ChartAxis power = MakeValueAxis(587, 5, "W");
  EXPECT_EQ(power.high, 600);
  ASSERT_EQ(power.ticks.size(), 4U);
  EXPECT_EQ(power.ticks[1].label, "200");
  EXPECT_EQ(MakeValueAxis(0, 5, "").high, 1);
  EXPECT_EQ(MakeValueAxis(std::nan(""), 5, "").high, 1);
  const double noon = static_cast<double>(UnixMillis(TimeOf("2026-11-30T22:10:00Z")));
  const ChartAxis time = MakeTimeAxis(noon, noon + 4 * 3600e3, 5, "UTC");
  ASSERT_EQ(time.ticks.size(), 4U);
  EXPECT_EQ(time.ticks[0].label, "11-30 23:00");
  EXPECT_EQ(time.ticks[1].label, "12-01 00:00");
  EXPECT_EQ(time.ticks[2].label, "01:00");
  EXPECT_GT(MakeTimeAxis(noon, noon, 5, "").high, noon);
}

}  // namespace
}  // namespace lowtide
