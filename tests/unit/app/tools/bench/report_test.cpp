#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include "app/document/plot.hpp"
#include "app/tools/bench/bench_report.hpp"
#include "core/mpi/communicator.hpp"
#include "core/mpi/environment.hpp"
#include "core/mpi/exchange_backend.hpp"
#include "core/runtime/error.hpp"
#include "core/runtime/host_name.hpp"
#include "core/runtime/json.hpp"

namespace eventloom {

namespace {

std::string content(const std::filesystem::path& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// The message with which `work` is refused; empty if it is accepted.
template <class Work>
std::string refusal(Work work) {
  try {
    work();
  } catch (const UserError& e) {
    return e.what();
  }
  return "";
}

bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

class InFolder : public testing::Test {
 protected:
  InFolder() {
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    folder = std::filesystem::temp_directory_path() /
             (std::string("eventloom-bench-") + test->name() + "-" + std::to_string(getpid()));
    std::filesystem::create_directory(folder);
  }
  ~InFolder() override { std::filesystem::remove_all(folder); }

  [[nodiscard]] std::size_t n_files() const {
    return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(folder), {}));
  }

  std::filesystem::path folder;
};

/// Sets another PATH for its lifetime.
class WithPath {
 public:
  explicit WithPath(const std::string& path) : before_(std::getenv("PATH")) { setenv("PATH", path.c_str(), 1); }
  ~WithPath() { setenv("PATH", before_.c_str(), 1); }
  WithPath(const WithPath&) = delete;
  WithPath& operator=(const WithPath&) = delete;

 private:
  std::string before_;
};

/// Binds this process to one hardware thread for its lifetime.
class Bound {
 public:
  Bound() : cpu_(sched_getcpu()) {
    sched_getaffinity(0, sizeof before_, &before_);
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(cpu_, &one);
    sched_setaffinity(0, sizeof one, &one);
  }
  ~Bound() { sched_setaffinity(0, sizeof before_, &before_); }
  Bound(const Bound&) = delete;
  Bound& operator=(const Bound&) = delete;

  [[nodiscard]] int cpu() const { return cpu_; }

 private:
  int cpu_;
  cpu_set_t before_{};
};

std::vector<BenchColumn> columns() {
  return {{"mode", "mode", "", 0},
          {"size", "size", "B", 0},
          {"loss", "loss", "%", 1},
          {"/latency/p50_ns", "median", "ns", 2}};
}

Json point(const char* mode, std::uint64_t size, double loss, double p50) {
  return {{"mode", mode}, {"size", size}, {"loss", loss}, {"latency", {{"p50_ns", p50}}}};
}

/// The table printed for these points.
std::string table(const std::vector<Json>& points) {
  testing::internal::CaptureStdout();
  BenchReport report("exchange", columns(), {});
  for (const auto& p : points) report.add(p);
  return testing::internal::GetCapturedStdout();
}

const char* const kHeader =
    "mode          size      loss    median\n"
    "               [B]       [%]      [ns]\n";

}  // namespace

TEST(BenchTable, ColumnsAreInLine) {
  EXPECT_EQ(table({point("put", 64, 0.125, 1234.5), point("flush", 18446744073709551ULL, 1, 7)}),
            std::string(kHeader) +
                "put             64      12.5   1234.50\n"
                "mode                   size      loss    median\n"
                "                        [B]       [%]      [ns]\n"
                "flush     18446744073709551     100.0      7.00\n");
}

TEST(BenchTable, RowsComeAtOnce) {
  testing::internal::CaptureStdout();
  BenchReport report("exchange", columns(), {});
  report.add(point("put", 64, 0, 1));
  EXPECT_EQ(testing::internal::GetCapturedStdout(), std::string(kHeader) + "put             64       0.0      1.00\n");
}

TEST(BenchTable, WhatIsMissingIsADash) {
  const Json none = {{"mode", nullptr}, {"size", NAN}, {"latency", 5}};
  EXPECT_EQ(table({point("put", 64, 0, 1), none, Json::object()}), std::string(kHeader) +
                                                                       "put             64       0.0      1.00\n"
                                                                       "-                -         -         -\n"
                                                                       "-                -         -         -\n");
}

TEST(BenchTable, AKeyWithoutSlashIsNoPointer) {
  testing::internal::CaptureStdout();
  BenchReport report("b", {{"a/b", "flag", "", 0}, {"/list/1", "second", "", 0}}, {});
  report.add({{"a/b", true}, {"list", {3, 4}}});
  EXPECT_EQ(testing::internal::GetCapturedStdout(),
            "flag        second\n"
            "\n"
            "yes              4\n");
}

using BenchFile = InFolder;

TEST_F(BenchFile, HoldsEverything) {
  testing::internal::CaptureStdout();
  BenchReport report("exchange", columns(), {{"cores", 2}});
  report.add(point("put", 64, 0.5, 3));
  report.add(point("get", 128, 0, 4));
  report.note("the second is slower");
  report.note("the second is slower");
  const auto printed = testing::internal::GetCapturedStdout();
  EXPECT_TRUE(printed.ends_with("\nthe second is slower\n")) << printed;
  EXPECT_EQ(printed.find("slower"), printed.rfind("slower")) << printed;
  report.set_load({{"loaded", true}}, "not to be trusted");
  report.write_json(folder / "out.json");
  EXPECT_EQ(Json::parse(content(folder / "out.json")),
            Json({{"format", "eventloom-bench"},
                  {"bench", "exchange"},
                  {"setup", {{"cores", 2}}},
                  {"load", {{"loaded", true}}},
                  {"points", {point("put", 64, 0.5, 3), point("get", 128, 0, 4)}},
                  {"notes", Json::array({"the second is slower", "not to be trusted"})}}));
}

TEST_F(BenchFile, WithoutPointsIsComplete) {
  BenchReport("exchange", columns(), Json::object()).write_json(folder / "out.json");
  const auto json = Json::parse(content(folder / "out.json"));
  EXPECT_EQ(json.at("points"), Json::array());
  EXPECT_EQ(json.at("notes"), Json::array());
}

TEST_F(BenchFile, ThatCannotBeWrittenIsRefused) {
  const BenchReport report("exchange", columns(), {});
  const auto path = (folder / "none" / "out.json").string();
  EXPECT_TRUE(holds(refusal([&] { report.write_json(path); }), path));
  EXPECT_NE(refusal([&] { report.write_json("/dev/full"); }), "");
}

TEST_F(BenchFile, TextThatIsNotUtf8DoesNotCostTheResults) {
  const BenchReport report("exchange", columns(), {{"configuration", "output = /data/\xff"}});
  EXPECT_EQ(refusal([&] { report.write_json(folder / "out.json"); }), "");
  EXPECT_FALSE(Json::try_parse(content(folder / "out.json")).is_null());
}

TEST(BenchSetup, SaysWhatItRanOn) {
  const MpiEnvironment mpi;
  const Communicator communicator;
  const ExchangeBackend backend{"ucx", "ucx", "sysv,tcp", true};
  const Bound bound;
  const auto setup = bench_setup(communicator, backend, "ranks = 1");
  EXPECT_EQ(setup.at("hosts"), Json::array({host_name()}));
  const Json one_core = {{"cpus", std::to_string(bound.cpu())}, {"one_core", true}};
  EXPECT_EQ(setup.at("binding"), Json::array({one_core}));
  EXPECT_EQ(setup.at("exchange").at("ucx_transports"), "sysv,tcp");
  EXPECT_EQ(setup.at("exchange").at("others"), "");
  EXPECT_EQ(setup.at("configuration"), "ranks = 1");
  EXPECT_TRUE(setup.at("started").get<std::string>().ends_with("Z"));
  EXPECT_GT(setup.at("cores").get<int>(), 0);
  std::ostringstream out;
  print_setup(out, setup);
  EXPECT_TRUE(holds(out.str(), host_name() + ": rank 0\n")) << out.str();
}

TEST(BenchSetup, IsPrintedByHostAndBinding) {
  const auto bound = [](const char* cpus, bool one_core) { return Json{{"cpus", cpus}, {"one_core", one_core}}; };
  Json setup = {{"eventloom", "1"},
                {"mpi", "M"},
                {"ucx", "U"},
                {"started", "now"},
                {"processor", "P"},
                {"cores", 4},
                {"l2_bytes", nullptr},
                {"hosts", {"a", "a", "b", "a"}},
                {"binding", {bound("0", true), bound("1,5", true), bound("0", true), bound("2", true)}},
                {"exchange", {{"pml", "ucx"}, {"osc", "ucx"}, {"ucx_transports", "tcp"}, {"is_ucx", true}}}};
  std::ostringstream out;
  print_setup(out, setup);
  EXPECT_TRUE(holds(out.str(), "a: ranks 0-1,3; b: rank 2\n")) << out.str();
  EXPECT_TRUE(holds(out.str(), "0: ranks 0,2; 1,5: rank 1; 2: rank 3\n")) << out.str();
  EXPECT_TRUE(holds(out.str(), "unknown")) << out.str();
  EXPECT_FALSE(holds(out.str(), "--bind-to core") || holds(out.str(), "not over UCX")) << out.str();
  setup["l2_bytes"] = 524288;
  setup["binding"][2] = bound("0-3", false);
  setup["exchange"]["is_ucx"] = false;
  print_setup(out, setup);
  EXPECT_TRUE(holds(out.str(), "--bind-to core") && holds(out.str(), "not over UCX")) << out.str();
  EXPECT_TRUE(holds(out.str(), "cache 512 KiB\n")) << out.str();
}

namespace {

bool have_gnuplot() {
  return refusal([] { check_plot_file("a.svg"); }).empty();
}

std::vector<Plot> plots() {
  const PlotSeries odd = {"it's 'quoted' \\n", {64}, {10}};
  return {
      {"Rate", "size [B]", "rate [MB/s]", true, true, {{"put", {64, 128}, {1, 2}}, odd, {"never measured", {}, {}}}},
      {"Load", "load", "latency", false, false, {{"zeros", {0, 1}, {0, 0}}, {"not a number", {1}, {NAN}}}},
      {"One", "size", "latency", true, true, {{"single", {64}, {10}}}},
      {"Empty", "x", "y", true, true, {{"zero on log", {0, 1}, {1, 0}}}},
      {"`touch hit`; $(touch hit)", "x", "y", false, true, {}}};
}

}  // namespace

TEST(PlotCheck, RefusesOtherFiles) {
  for (const char* path : {"plot.pdf", "plot", ".svg", "", "plot.svg.txt", "plot.SVG"}) {
    EXPECT_TRUE(holds(refusal([&] { check_plot_file(path); }), ".svg or .png")) << path;
  }
}

using PlotFile = InFolder;

TEST_F(PlotFile, WithoutGnuplotSaysWhatToInstall) {
  std::ofstream(folder / "gnuplot") << "not a program\n";
  const WithPath path("/nowhere:/dev:" + folder.string());
  EXPECT_TRUE(holds(refusal([] { check_plot_file("plot.svg"); }), "install gnuplot-nox"));
}

TEST_F(PlotFile, SvgHoldsEverySeries) {
  if (!have_gnuplot()) GTEST_SKIP() << "no gnuplot";
  const auto path = folder / "it's a \"plot\" $(touch hit); |.svg";
  testing::internal::CaptureStderr();
  write_plot(path, plots());
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  const auto svg = content(path);
  EXPECT_TRUE(svg.starts_with("<?xml")) << svg.substr(0, 80);
  EXPECT_TRUE(holds(svg, "</svg>"));
  for (const auto& plot : plots()) {
    EXPECT_TRUE(holds(svg, ">" + plot.title + "<")) << plot.title;
    for (const auto& series : plot.series) EXPECT_TRUE(holds(svg, ">" + series.name + "<")) << series.name;
  }
  EXPECT_EQ(n_files(), 1U);
}

TEST_F(PlotFile, PngIsOne) {
  if (!have_gnuplot()) GTEST_SKIP() << "no gnuplot";
  write_plot(folder / "plot.png", plots());
  EXPECT_TRUE(content(folder / "plot.png").starts_with("\x89PNG"));
}

TEST_F(PlotFile, ThatCannotBeWrittenIsRefused) {
  EXPECT_TRUE(holds(refusal([&] { write_plot(folder / "none" / "plot.svg", plots()); }), "cannot create"));
}

TEST_F(PlotFile, AFailingGnuplotIsReported) {
  // A gnuplot that exits at once, while more than a pipe holds is still to be written.
  std::ofstream(folder / "gnuplot") << "#!/bin/sh\nexit 1\n";
  std::filesystem::permissions(folder / "gnuplot", std::filesystem::perms::owner_all);
  const WithPath path(folder.string());
  auto many = plots();
  many[0].series[0] = {"many", std::vector<double>(100000, 3.25), std::vector<double>(100000, 1.75)};
  const auto refused = refusal([&] { write_plot(folder / "plot.svg", many); });
  EXPECT_TRUE(holds(refused, "gnuplot")) << refused;
  EXPECT_FALSE(std::filesystem::exists(folder / "plot.svg"));
}

}  // namespace eventloom
