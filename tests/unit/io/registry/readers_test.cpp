#include <gtest/gtest.h>
#include <hdf5.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "core/runtime/error.hpp"
#include "io/hdf5_input/group_search.hpp"
#include "io/registry/registry.hpp"

namespace eventloom {
namespace {

const std::string kData = TEST_DATA_DIR;
constexpr TimeBase kBase{};  // ticks of 1 ns

HitBlock read_all(HitReader& reader) {
  HitBlock all;
  HitBlock block;
  while (reader.read(block)) {
    EXPECT_GT(block.size(), 0U);
    EXPECT_LE(block.size(), 65536U);
    all.time.insert(all.time.end(), block.time.begin(), block.time.end());
    all.channel.insert(all.channel.end(), block.channel.begin(), block.channel.end());
    all.payload.insert(all.payload.end(), block.payload.begin(), block.payload.end());
  }
  return all;
}

std::unique_ptr<HitReader> open(const std::string& text, const TimeBase& base = kBase, SourceId id = {0}) {
  const auto uri = parse_source_uri(text);
  return scheme_of(uri).read(uri, id, base);
}

HitBlock hits_of(const std::string& text, const TimeBase& base = kBase) { return read_all(*open(text, base)); }

/// The error from opening the input and reading it to the end; empty if there is none.
std::string error_of_uri(const std::string& text, const TimeBase& base = kBase) {
  try {
    hits_of(text, base);
  } catch (const UserError& e) {
    return e.what();
  }
  return "";
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

testing::AssertionResult complains(const std::string& uri, const std::string& part) {
  const auto said = error_of_uri(uri);
  if (contains(said, part)) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "it says '" << said << "', without '" << part << "'";
}

struct Totals {
  std::size_t hits = 0;
  Tick first = std::numeric_limits<Tick>::max();
  Tick last = 0;
  std::uint64_t channels = 0;
  std::uint64_t payload = 0;

  void add(const HitBlock& block) {
    hits += block.size();
    for (const auto time : block.time) {
      first = std::min(first, time);
      last = std::max(last, time);
    }
    channels = std::accumulate(block.channel.begin(), block.channel.end(), channels);
    payload = std::accumulate(block.payload.begin(), block.payload.end(), payload);
  }
  friend bool operator==(const Totals&, const Totals&) = default;
};

/// A folder for the files of one test.
class Readers : public testing::Test {
 protected:
  Readers() { std::filesystem::create_directories(folder_); }
  ~Readers() override { std::filesystem::remove_all(folder_); }

  [[nodiscard]] std::string path(const std::string& name) const { return (folder_ / name).string(); }
  [[nodiscard]] std::string text_file(const std::string& text) const {
    std::ofstream(path("t.csv"), std::ios::binary) << text;
    return path("t.csv");
  }
  /// URI of a file with time in column 1, in ns unless `more` says otherwise, and channel in column 2.
  [[nodiscard]] std::string csv(const std::string& text, const std::string& more = "") const {
    const auto* unit = more.find("unit=") == std::string::npos ? "&unit=ns" : "";
    return "csv:" + text_file(text) + "?time=1&channel=2" + unit + more;
  }

 private:
  std::filesystem::path folder_ =
      std::filesystem::path(testing::TempDir()) /
      ("readers_" + std::to_string(getpid()) + "_" + testing::UnitTest::GetInstance()->current_test_info()->name());
};
using CsvReaderTest = Readers;
using Hdf5ReaderTest = Readers;

// ---- csv

// tests/data/nest_brunel/truth/brunel_{grid,precise}.summary.json: nhits, tmin, tmax, sum_channel.
TEST_F(CsvReaderTest, NestFilesAgreeWithTheirTruth) {
  const std::vector<std::pair<std::string, Totals>> sets = {
      {"grid", {135058, 5700000, Tick(3000000000), 338390654, 0}},
      {"precise", {112608, 3897327, Tick(2499995765), 282078908, 0}},
  };
  for (const auto& [name, truth] : sets) {
    Totals totals;
    for (const auto& file : std::filesystem::directory_iterator(kData + "/nest_brunel/" + name)) {
      totals.add(hits_of("csv:" + file.path().string() + "?time=2&channel=1&unit=ms&skip=3"));
    }
    EXPECT_EQ(totals, truth) << name;
  }
}

// The first lines of the file: sender 83 at 8.400000 ms, 198 at 9.700000 ms, 282 at 12.800000 ms.
TEST_F(CsvReaderTest, DecimalTimesAreExact) {
  const auto hits = hits_of("csv:" + kData + "/nest_brunel/grid/src00-5002-0.dat?time=2&channel=1&unit=ms&skip=3");
  EXPECT_EQ(std::vector<Tick>(hits.time.begin(), hits.time.begin() + 3),
            (std::vector<Tick>{8'400'000, 9'700'000, 12'800'000}));
  EXPECT_EQ(std::vector<std::uint32_t>(hits.channel.begin(), hits.channel.begin() + 3),
            (std::vector<std::uint32_t>{83, 198, 282}));
}

TEST_F(CsvReaderTest, TimesThatDoublesCannotHoldAreExact) {
  const auto hits = hits_of(csv("9007199254740993 1\n1.8e1 2\n0 3\n"), {.tick_ps = 1000});
  EXPECT_EQ(hits.time[0], Tick(9007199254740993));
  const auto picoseconds = hits_of(csv("9999999999999999.999 1\n"), {.tick_ps = 1});
  EXPECT_EQ(picoseconds.time[0], Tick(9'999'999'999'999'999'999U));
}

TEST_F(CsvReaderTest, TooFineTimesNameThePlaceAndTheRemedies) {
  const auto said = error_of_uri(csv("# c\n5 1\n1.25 1\n"));
  EXPECT_TRUE(contains(said, "t.csv:3: the time 1.25 ns")) << said;
  EXPECT_TRUE(contains(said, "finer --tick")) << said;
  EXPECT_TRUE(contains(said, "round=down or round=nearest")) << said;
  EXPECT_EQ(error_of_uri(csv("5 1\n1.25 1\n"), {.tick_ps = 250}), "");
}

TEST_F(CsvReaderTest, NumbersNeedAUnit) {
  const auto file = "csv:" + text_file("t,ch\n5,1\n");
  EXPECT_TRUE(complains(file, "t.csv:2: the time '5' has no unit"));
  EXPECT_TRUE(complains(file + "?origin=-5ms", "t.csv:2: the time '5' has no unit"));
  EXPECT_EQ(hits_of(file + "?unit=us").time, std::vector<Tick>{5000});
  EXPECT_TRUE(complains(csv("1 1\n1.64E+15 1\n"), "t.csv:2: '1.64E+15' is not precise to a tick"));
  EXPECT_EQ(hits_of(csv("1.64E+15 1\n", "&round=nearest")).time, std::vector<Tick>{Tick(1'640'000'000'000'000)});
}

TEST_F(CsvReaderTest, RoundsWhenAsked) {
  const std::string text = "1.25 1\n1.5 1\n1.75 1\n2 1\n0.4999999999999999 1\n1e-50 1\n";
  EXPECT_EQ(hits_of(csv(text, "&round=down")).time, (std::vector<Tick>{1, 1, 1, 2, 0, 0}));
  EXPECT_EQ(hits_of(csv(text, "&round=nearest")).time, (std::vector<Tick>{1, 2, 2, 2, 0, 0}));
  EXPECT_EQ(hits_of(csv("7 1\n8 1\n", "&round=nearest"), {.tick_ps = 5000}).time, (std::vector<Tick>{1, 2}));
  EXPECT_TRUE(complains(csv("1 1\n", "&round=up"), "there are down and nearest"));
  EXPECT_TRUE(complains(csv("99999999999999999999 1\n", "&round=down"), "not a time"));
  EXPECT_TRUE(complains(csv("18446744073709552 1\n", "&round=down&unit=us"), "below 2^64"));
}

TEST_F(CsvReaderTest, FindsTheDelimiter) {
  for (const std::string text : {"10\t7\t3\n20\t8\t4\n", "10,7,3\n20,8,4\n", "10;7;3\n20;8;4\n", "10 7 3\n20 8 4\n",
                                 "  10   7  3\n20\t 8   4  \n", "10 , 7,3 \r\n20, 8 ,4\r\n"}) {
    const auto hits = hits_of(csv(text, "&payload=3"));
    EXPECT_EQ(hits.time, (std::vector<Tick>{10, 20})) << text;
    EXPECT_EQ(hits.channel, (std::vector<std::uint32_t>{7, 8})) << text;
    EXPECT_EQ(hits.payload, (std::vector<std::uint32_t>{3, 4})) << text;
  }
}

TEST_F(CsvReaderTest, EmptyFieldsCountAsColumns) {
  const auto hits = hits_of("csv:" + text_file("\t5\t6\n\t7\t8\t\n") + "?time=2&channel=3&unit=ns");
  EXPECT_EQ(hits.time, (std::vector<Tick>{5, 7}));
  EXPECT_EQ(hits.channel, (std::vector<std::uint32_t>{6, 8}));
}

TEST_F(CsvReaderTest, LeavesOutHeadersCommentsAndBlankLines) {
  const auto hits = hits_of(csv("a table\ntime,channel\r\n#x\r\n\r\n   \n  # y\n1,0x1F\n\n2,0xfffffff\n", "&skip=2"));
  EXPECT_EQ(hits.time, (std::vector<Tick>{1, 2}));
  EXPECT_EQ(hits.channel, (std::vector<std::uint32_t>{31, 0xfffffff}));
}

TEST_F(CsvReaderTest, PayloadKeepsColumnOrderAndSign) {
  const auto uri = csv("1 2 30 -1\n1 2 4294967295 40\n", "&payload=4,3");
  EXPECT_EQ(hits_of(uri).payload, (std::vector<std::uint32_t>{0xffffffff, 30, 40, 0xffffffff}));
  EXPECT_EQ(open(uri)->header().payload, PayloadTable::uniform(2));
  EXPECT_EQ(payload_kind(open(uri)->header().flags, 0), PayloadKind::i32);
  EXPECT_EQ(payload_kind(open(uri)->header().flags, 1), PayloadKind::u32);
  EXPECT_EQ(open(uri)->header().payload_names, (std::vector<std::string>{"4", "3"}));
}

TEST_F(CsvReaderTest, PayloadIsOfTheKindOfTheFirstRows) {
  const auto file = "csv:" + text_file("t_ns,ch,energy,adc,tot\n1,2,0.1,4294967296,-7\n2,3,-1e3,5,7\n");
  const auto header = open(file)->header();
  EXPECT_EQ(header.payload_names, (std::vector<std::string>{"energy", "adc", "tot"}));
  EXPECT_EQ(header.payload, PayloadTable::uniform(5));
  EXPECT_EQ(payload_kind(header.flags, 0), PayloadKind::f64);
  EXPECT_EQ(payload_kind(header.flags, 1), PayloadKind::f64);
  EXPECT_EQ(payload_kind(header.flags, 2), PayloadKind::i32);
  const auto words = hits_of(file).payload;
  EXPECT_EQ(payload_number(PayloadKind::f64, words), 0.1);
  EXPECT_EQ(payload_number(PayloadKind::f64, std::span(words).subspan(2)), 4294967296.0);
  EXPECT_EQ(payload_number(PayloadKind::i32, std::span(words).subspan(4)), -7.0);
  EXPECT_EQ(payload_number(PayloadKind::f64, std::span(words).subspan(5)), -1000.0);
}

TEST_F(CsvReaderTest, StatedKindsOfPayloadHold) {
  const std::string rows = "t_ns,ch,energy\n1,2,3\n2,2,2.5\n";
  const auto single = "csv:" + text_file(rows) + "?payload=energy:f32";
  EXPECT_EQ(hits_of(single).payload,
            (std::vector{std::bit_cast<std::uint32_t>(3.0F), std::bit_cast<std::uint32_t>(2.5F)}));
  EXPECT_TRUE(
      complains("csv:" + text_file(rows) + "?payload=energy:i32", "'2.5' is not payload, a whole number of 32"));
  std::string many = "t_ns,ch,energy\n";
  for (int i = 0; i < 20'000; ++i) many += std::to_string(i) + ",1,5\n";
  EXPECT_TRUE(complains("csv:" + text_file(many + "20000,1,-5\n"), "'-5' is not payload, a whole number from 0"));
  EXPECT_TRUE(complains("csv:" + text_file(many + "20000,1,-5\n"), "as in payload=energy:f64"));
}

TEST_F(CsvReaderTest, BadLinesNamePlaceTextAndExpectation) {
  EXPECT_TRUE(complains(csv("1 1\n-5 1\n"), "t.csv:2: '-5' is not a time"));
  EXPECT_TRUE(complains(csv("time channel\n1 1\n"), "t.csv:1: 'time' is not a time"));
  EXPECT_TRUE(complains(csv("1 1\n2\n"), "t.csv:2: the line has 1 columns, the first row 2"));
  EXPECT_TRUE(complains(csv("1,\n"), "t.csv:1: '' is not a channel"));
  EXPECT_TRUE(complains(csv("1 0x10000000\n"), "t.csv:1: '0x10000000' is not a channel"));
  EXPECT_TRUE(complains(csv("1 -1\n"), "'-1' is not a channel"));
  EXPECT_TRUE(complains(csv("1 1.5\n"), "'1.5' is not a channel"));
  EXPECT_TRUE(complains(csv("1 1 x\n", "&payload=3"), "'x' is not payload, a whole number from 0 to 4294967295"));
  EXPECT_TRUE(complains(csv("1 1\n" + std::string(2'000'000, '7')), "line 2 is longer than"));
}

TEST_F(CsvReaderTest, QuotedFieldsHoldSeparatorsAndQuotes) {
  const auto channels = [&](const std::string& text) { return hits_of("csv:" + text_file(text) + "?unit=ns").channel; };
  EXPECT_EQ(channels("time,note,channel\n1,\"a,b\",5\n2,,6\n3, \"\" , 7\n"), (std::vector<std::uint32_t>{5, 6, 7}));
  EXPECT_EQ(channels("time,note,channel\n1,\"a;b\",5\n"), (std::vector<std::uint32_t>{5}));
  EXPECT_EQ(channels("\"time, of day\";t;ch\n\"10;00\";1;5\n"), (std::vector<std::uint32_t>{5}));
  EXPECT_EQ(channels("time \"a note\" channel\n1 \"x y\" 5\n2 \"\" 6\n"), (std::vector<std::uint32_t>{5, 6}));
  const auto reader = open("csv:" + text_file("t_ns,ch\n1,\"a, \"\"b\"\"\"\n2,\"a\"\n"));
  EXPECT_TRUE(contains(reader->header().text, "a = 0, a, \"b\" = 1"));
}

TEST_F(CsvReaderTest, QuotesThatDoNotMatchNameTheirLine) {
  EXPECT_TRUE(complains(csv("1,5\n\"2,6\n"), "t.csv:2: a quote is not closed"));
  EXPECT_TRUE(complains(csv("1,5\n\"2\" 3,6\n"), "t.csv:2: text follows a closed quote"));
  EXPECT_TRUE(complains("csv:" + text_file("time,\"channel\n1,2\n"), "t.csv:1: a quote is not closed"));
  EXPECT_EQ(hits_of("csv:" + text_file("# \"so said the shift\n# \"a remark\nt_ns,ch\n1,5\n")).channel,
            (std::vector<std::uint32_t>{5}));
}

TEST_F(CsvReaderTest, WhatIsNotUtf8TextSaysSo) {
  using namespace std::string_literals;
  EXPECT_TRUE(complains(csv("1,2\n1,2\0,6\n"s), "line 2 holds a NUL byte: not text in UTF-8"));
  EXPECT_TRUE(complains("csv:" + text_file("\xff\xfet\0,\0c\0h\0\n\0"s), "UTF-16? save it as UTF-8"));
}

TEST_F(CsvReaderTest, UsualNamesAreChosenByTheirOrderNotThatOfTheColumns) {
  const auto channels = [&](const std::string& text) { return hits_of("csv:" + text_file(text) + "?unit=ns").channel; };
  EXPECT_EQ(channels("id,channel,time_ns\n1,7,10\n2,8,20\n"), (std::vector<std::uint32_t>{7, 8}));
  EXPECT_EQ(channels("t,id,detector,chan\n1,2,3,4\n"), (std::vector<std::uint32_t>{4}));
  const auto file = "csv:" + text_file("t_us,time_ns,ch\n1,1000,5\n");
  EXPECT_TRUE(complains(file, "t.csv:1: columns 1 and 2 could both be the time; say which: time=t_us or time=time_ns"));
  EXPECT_EQ(hits_of(file + "?time=time_ns").time, hits_of(file + "?time=t_us").time);
  EXPECT_TRUE(complains("csv:" + text_file("time,channel,channel\n1,2,3\n"), "say which: channel=2 or channel=3"));
  EXPECT_TRUE(complains("csv:" + text_file("time,Channel,channel\n1,2,3\n"), "channel=Channel or channel=channel"));
  EXPECT_TRUE(complains("csv:" + text_file("t,t,ch\n1,2,3\n") + "?time=t", "both called 't'; say which: time=1"));
  EXPECT_TRUE(complains("csv:" + text_file("t,ch,a,a\n1,2,3,4\n") + "?payload=a", "say which: payload=3"));
}

TEST_F(CsvReaderTest, TypingErrorsInNamesAreRecognised) {
  EXPECT_TRUE(complains("csv:" + text_file("time,chanel\n1,2\n"), "'chanel' (did you mean 'channel'?)"));
  EXPECT_TRUE(complains("csv:" + text_file("tmie_us,tot,ch\n1,2,3\n"), "'tmie_us' (did you mean 'time'?)"));
  EXPECT_TRUE(complains("csv:" + text_file("t,channel\n1,2\n") + "?channel=chanel", "(did you mean 'channel'?)"));
  const auto names = path("names.csv");
  std::ofstream(names) << "vetoo,1\nmuon,2\n";
  EXPECT_TRUE(
      complains(csv("1,veto\n", "&channels=" + names), "an id in the table of channels= (did you mean 'vetoo'?)"));
}

TEST_F(CsvReaderTest, NumbersAmongWordsAreRefusedInAnyOrder) {
  for (const std::string number : {"5", "-5", "0x1f", "1.5", "1e3"}) {
    const auto line = ": '" + number + "' is not a word, as the channel of the first row is; channels=FILE";
    EXPECT_TRUE(complains(csv("1,veto\n2," + number + "\n3,muon\n"), "t.csv:2" + line)) << number;
  }
  EXPECT_TRUE(complains(csv("1,veto\n2,nan\n3,muon\n"), "t.csv:2: 'nan' is not a channel: it is missing"));
  EXPECT_TRUE(complains(csv("1,veto\n2,\n3,muon\n"), "t.csv:2: '' is not a channel: it is missing"));
  EXPECT_TRUE(complains(csv("1,5\n2,veto\n"), "t.csv:2: 'veto' is not a channel"));
  EXPECT_TRUE(complains(csv("1,5\n2,veto\n"), "channels=FILE"));
  EXPECT_EQ(hits_of(csv("1,3a\n2,nano\n3,0xg\n4,1-2\n")).channel, (std::vector<std::uint32_t>{2, 3, 0, 1}));
  const auto names = path("names.csv");
  std::ofstream(names) << "veto,7\n";
  EXPECT_EQ(hits_of(csv("1,veto\n2,5\n", "&channels=" + names)).channel, (std::vector<std::uint32_t>{7, 5}));
}

TEST_F(CsvReaderTest, BadUrisAreRefused) {
  EXPECT_TRUE(complains("csv:" + text_file("1 1\n") + "?channel=1", "'time=' is missing"));
  EXPECT_TRUE(complains(csv("1 1\n", "&colour=3"), "unknown key 'colour'"));
  EXPECT_TRUE(complains(csv("1 1\n", "&payload=x"), "no column is called 'x'"));
  EXPECT_TRUE(complains(csv("1 1\n", "&payload=1,,2"), "empty name"));
  EXPECT_TRUE(complains("csv:" + text_file("1 1\n") + "?channel=2&time=0", "from 1 to"));
  EXPECT_TRUE(complains("csv:" + path("none.csv") + "?time=1&channel=2", "cannot open '" + path("none.csv")));
  EXPECT_TRUE(complains("csv:" + testing::TempDir() + "?time=1&channel=2", "not a regular file"));
  EXPECT_EQ(error_of_uri(csv("1 1\n", "&reorder=5")), "");
}

TEST_F(CsvReaderTest, LongFilesAreReadWholeAcrossBuffers) {
  std::string text;
  std::uint64_t sum = 0;
  constexpr std::uint64_t kLines = 200'000;
  for (std::uint64_t i = 0; i < kLines; ++i) {
    text += std::to_string(i * 1000) + ".000," + std::to_string(i % 1000) + "\r\n";
    sum += i % 1000;
  }
  Totals totals;
  totals.add(hits_of(csv(text)));
  EXPECT_EQ(totals, (Totals{kLines, 0, Tick((kLines - 1) * 1000), sum, 0}));
}

// RFC 3720 appendix B.4 style check value: CRC32C("123456789") = 0xe3069283.
TEST_F(CsvReaderTest, DescribesItsInput) {
  const auto file = text_file("123456789");
  const auto uri = "csv:" + file + "?time=1&channel=1&unit=ns";
  const auto reader = open(uri, kBase, SourceId{9});
  EXPECT_EQ(reader->name(), file);
  EXPECT_EQ(reader->input().path, file);
  EXPECT_EQ(reader->input().bytes, 9U);
  EXPECT_EQ(reader->input().crc32c, 0xe3069283U);
  EXPECT_EQ(reader->header().source, 9U);
  EXPECT_EQ(reader->header().text, SourceUri::parse(uri).text());
  EXPECT_EQ(reader->header().base, kBase);
  EXPECT_FALSE(reader->header().payload.any());
}

// ---- hdf5

/// Writes datasets with HDF5's plain C interface.
class PlainFile {
 public:
  explicit PlainFile(const std::string& path)
      : file_(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT)) {}
  ~PlainFile() { H5Fclose(file_); }
  PlainFile(const PlainFile&) = delete;
  PlainFile& operator=(const PlainFile&) = delete;

  void group(const std::string& name) {
    H5Gclose(H5Gcreate2(file_, name.c_str(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
  }
  void column(const std::string& name, hid_t stored, const std::vector<double>& values) {
    dataset(name, stored, {values.size()}, H5T_NATIVE_DOUBLE, values.data());
  }
  void integers(const std::string& name, const std::vector<std::uint64_t>& values) {
    dataset(name, H5T_STD_U64BE, {values.size()}, H5T_NATIVE_UINT64, values.data());
  }
  /// A dataset of `rows` rows, the first `mapped` of which are those of the dataset `from` in another file.
  void mapped(const std::string& name, hsize_t rows, const std::string& from, hsize_t mapped,
              const std::string& in = ".") {
    const hid_t whole = H5Screate_simple(1, &rows, nullptr);
    const hid_t part = H5Screate_simple(1, &mapped, nullptr);
    const hsize_t start = 0;
    H5Sselect_hyperslab(whole, H5S_SELECT_SET, &start, nullptr, &mapped, nullptr);
    const hid_t list = H5Pcreate(H5P_DATASET_CREATE);
    EXPECT_GE(H5Pset_virtual(list, whole, in.c_str(), from.c_str(), part), 0);
    create(name, rows, list);
    H5Sclose(part);
    H5Sclose(whole);
  }
  /// A dataset whose rows lie in another file.
  void external(const std::string& name, hsize_t rows, const std::string& in) {
    const hid_t list = H5Pcreate(H5P_DATASET_CREATE);
    EXPECT_GE(H5Pset_external(list, in.c_str(), 0, rows * 8), 0);
    create(name, rows, list);
  }
  /// A dataset whose chunks are not in the file.
  void sparse(const std::string& name, hsize_t rows, hsize_t chunk) {
    const hid_t list = H5Pcreate(H5P_DATASET_CREATE);
    EXPECT_GE(H5Pset_chunk(list, 1, &chunk), 0);
    create(name, rows, list);
  }
  void table(const std::string& name) {
    const std::vector<double> values(6);
    dataset(name, H5T_STD_U64LE, {3, 2}, H5T_NATIVE_DOUBLE, values.data());
  }

 private:
  void create(const std::string& name, hsize_t rows, hid_t list) {
    const hid_t space = H5Screate_simple(1, &rows, nullptr);
    const hid_t id = H5Dcreate2(file_, name.c_str(), H5T_STD_U64LE, space, H5P_DEFAULT, list, H5P_DEFAULT);
    EXPECT_GE(id, 0) << name;
    H5Dclose(id);
    H5Sclose(space);
    H5Pclose(list);
  }
  void dataset(const std::string& name, hid_t stored, const std::vector<hsize_t>& shape, hid_t memory,
               const void* values) {
    const hid_t space = H5Screate_simple(static_cast<int>(shape.size()), shape.data(), nullptr);
    const hid_t id = H5Dcreate2(file_, name.c_str(), stored, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    EXPECT_GE(H5Dwrite(id, memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, values), 0);
    H5Dclose(id);
    H5Sclose(space);
  }

  hid_t file_;
};

/// Paths of the groups; none of them may have a defect.
std::vector<std::string> groups_in(const std::string& file, const std::string& pattern) {
  std::vector<std::string> paths;
  for (const auto& group : find_groups(file, pattern, {})) {
    EXPECT_EQ(group.defect, "") << group.path;
    paths.push_back(group.path);
  }
  return paths;
}

// tests/data/km3net_orca4/truth/orca4_run*_L1.summary.json: nhits, tmin, tmax, sum_channel, sum_value.
TEST_F(Hdf5ReaderTest, OrcaFilesAgreeWithTheirTruth) {
  const std::vector<std::pair<std::string, Totals>> runs = {
      {"orca4_run6884.h5", {456453, Tick(36400011445), Tick(37399997076), 7045840, 9196870}},
      {"orca4_run6633.h5", {147463, Tick(50900002894), Tick(51499996753), 2229734, 2986634}},
  };
  for (const auto& [name, truth] : runs) {
    const auto file = kData + "/km3net_orca4/" + name;
    const auto groups = groups_in(file, "/dom_*");
    EXPECT_EQ(groups.size(), 69U);
    EXPECT_TRUE(std::ranges::is_sorted(groups));
    Totals totals;
    for (const auto& group : groups) totals.add(hits_of("hdf5:" + file + "?payload=tot&unit=ns&group=" + group));
    EXPECT_EQ(totals, truth) << name;
  }
}

// 7826 rows, according to h5dump of the file.
TEST_F(Hdf5ReaderTest, DescribesItsInput) {
  const auto file = kData + "/km3net_orca4/orca4_run6884.h5";
  const auto reader = open("hdf5:" + file + "?group=/dom_806451572&unit=ns&payload=tot", kBase, SourceId{4});
  EXPECT_EQ(reader->name(), file + ":/dom_806451572");
  EXPECT_EQ(reader->header().source, 4U);
  EXPECT_EQ(reader->header().payload, PayloadTable::uniform(1));
  EXPECT_EQ(reader->header().text, "hdf5:" + file + "?group=/dom_806451572&payload=tot&unit=ns");
  EXPECT_EQ(reader->input().path, file);
  EXPECT_EQ(reader->input().bytes, std::filesystem::file_size(file));
  EXPECT_EQ(read_all(*reader).size(), 7826U);
}

TEST_F(Hdf5ReaderTest, PatternsMatchWithinOneName) {
  const auto file = path("g.h5");
  {
    PlainFile plain(file);
    for (const auto* name : {"/b", "/b/x1", "/b/x2", "/a", "/a/x10", "/a/y1", "/B", "/a/x10/deep"}) plain.group(name);
    plain.integers("/a/x3", {1});
  }
  using Names = std::vector<std::string>;
  EXPECT_EQ(groups_in(file, "/*"), (Names{"/B", "/a", "/b"}));
  EXPECT_EQ(groups_in(file, "/*/x?"), (Names{"/b/x1", "/b/x2"}));
  EXPECT_EQ(groups_in(file, "/*/x*"), (Names{"/a/x10", "/b/x1", "/b/x2"}));
  EXPECT_EQ(groups_in(file, "a/y1"), (Names{"/a/y1"}));
  EXPECT_EQ(groups_in(file, "/"), (Names{"/"}));
  EXPECT_EQ(groups_in(file, "/c*"), Names{});
  EXPECT_EQ(groups_in(file, "/a/x3"), Names{});
  EXPECT_THROW(groups_in(path("none.h5"), "/"), UserError);
  EXPECT_THROW(groups_in(text_file("no HDF5"), "/*"), UserError);
}

TEST_F(Hdf5ReaderTest, IntegerTimesAreScaledExactly) {
  const auto file = path("i.h5");
  {
    PlainFile plain(file);
    plain.integers("/time", {9007199254740993U, 5, 0});
    plain.column("/channel", H5T_STD_I16BE, {1, 2, 3});
  }
  EXPECT_EQ(hits_of("hdf5:" + file + "?unit=ns").time, (std::vector<Tick>{Tick(9007199254740993U), 5, 0}));
  EXPECT_EQ(hits_of("hdf5:" + file + "?unit=us").time[1], Tick(5000));
  EXPECT_EQ(hits_of("hdf5:" + file + "?unit=tick", {.tick_ps = 3333}).time[1], Tick(5));
  EXPECT_TRUE(
      complains("hdf5:" + file + "?unit=ps", "/time' row 0: the time 9007199254740993 ps is not a whole number"));
  EXPECT_EQ(hits_of("hdf5:" + file + "?unit=ps&round=down").time, (std::vector<Tick>{Tick(9007199254740), 0, 0}));
  EXPECT_EQ(hits_of("hdf5:" + file + "?unit=ps&round=nearest").time, (std::vector<Tick>{Tick(9007199254741), 0, 0}));
  EXPECT_TRUE(complains("hdf5:" + file + "?unit=s", "below 2^64"));
}

TEST_F(Hdf5ReaderTest, FloatTimesMustBeWholeUnlessRounded) {
  const auto file = path("f.h5");
  {
    PlainFile plain(file);
    plain.column("/g", H5T_IEEE_F64LE, {0.0084, 0.0097, 0.0128});
    plain.column("/h", H5T_IEEE_F32LE, {1.0, 2.5, 3.75});
    plain.column("/minus", H5T_IEEE_F64LE, {1.0, 2.0, -3.0});
    plain.column("/channel", H5T_STD_U8LE, {1, 2, 3});
  }
  EXPECT_EQ(hits_of("hdf5:" + file + "?time=g&unit=s").time, (std::vector<Tick>{8'400'000, 9'700'000, 12'800'000}));
  EXPECT_EQ(hits_of("hdf5:" + file + "?time=g&unit=s&round=down").time,
            (std::vector<Tick>{8'400'000, 9'700'000, 12'800'000}));
  EXPECT_TRUE(complains("hdf5:" + file + "?unit=ns&time=h", "/h' row 1"));
  EXPECT_EQ(hits_of("hdf5:" + file + "?unit=ns&time=h&round=down").time, (std::vector<Tick>{1, 2, 3}));
  EXPECT_EQ(hits_of("hdf5:" + file + "?unit=ns&time=h&round=nearest").time, (std::vector<Tick>{1, 3, 4}));
  EXPECT_TRUE(complains("hdf5:" + file + "?unit=ns&time=minus&round=nearest", "/minus' row 2"));
}

TEST_F(Hdf5ReaderTest, PayloadIsOfTheKindOfItsDataset) {
  const auto file = path("k.h5");
  {
    PlainFile plain(file);
    plain.integers("/time", {1, 2});
    plain.integers("/channel", {1, 2});
    plain.column("/f64", H5T_IEEE_F64LE, {0.1, -1e300});
    plain.column("/f32", H5T_IEEE_F32BE, {0.5, -2});
    plain.column("/i16", H5T_STD_I16BE, {-5, 7});
    plain.column("/i64", H5T_STD_I64LE, {-5, 7});
  }
  const auto uri = "hdf5:" + file + "?unit=ns&payload=";
  const auto header = open(uri + "f64,f32,i16,i64")->header();
  EXPECT_EQ(header.payload, PayloadTable::uniform(5));
  const std::vector kinds{PayloadKind::f64, PayloadKind::f32, PayloadKind::i32, PayloadKind::i32};
  for (std::size_t i = 0; i < kinds.size(); ++i) EXPECT_EQ(payload_kind(header.flags, i), kinds[i]) << i;
  const auto words = hits_of(uri + "f64,f32,i16,i64").payload;
  ASSERT_EQ(words.size(), 10U);
  EXPECT_EQ(payload_number(PayloadKind::f64, words), 0.1);
  EXPECT_EQ(payload_number(PayloadKind::f32, std::span(words).subspan(2)), 0.5);
  EXPECT_EQ(payload_number(PayloadKind::i32, std::span(words).subspan(3)), -5.0);
  EXPECT_EQ(payload_number(PayloadKind::f64, std::span(words).subspan(5)), -1e300);
  EXPECT_EQ(payload_number(PayloadKind::i32, std::span(words).subspan(9)), 7.0);
  EXPECT_EQ(payload_number(PayloadKind::f64, hits_of(uri + "i64:f64").payload), -5.0);
  EXPECT_TRUE(complains(uri + "f64:f32", "/f64' row 0: 0.1 is not exactly a number of f32"));
  EXPECT_TRUE(complains(uri + "i64:u32", "/i64' row 0: -5 is not exactly a number of u32"));
}

TEST_F(Hdf5ReaderTest, BadColumnsNameFileGroupAndDataset) {
  const auto file = path("b.h5");
  {
    PlainFile plain(file);
    plain.group("/g");
    plain.integers("/g/time", {1, 2, 3});
    plain.integers("/g/channel", {1, 2, 1U << 28});
    plain.integers("/g/short", {1, 2});
    plain.column("/g/minus", H5T_STD_I32LE, {1, -2, 3});
    plain.column("/g/real", H5T_IEEE_F32LE, {1, 2, 2.5});
    plain.integers("/g/wide", {1, 1ULL << 32, 3});
    plain.table("/g/table");
  }
  const auto uri = "hdf5:" + file + "?group=/g&unit=ns";
  EXPECT_TRUE(complains(uri, file + ":/g/channel' row 2: 268435456 is not a channel"));
  EXPECT_TRUE(complains(uri + "&channel=short", file + ":/g/short' has 2 rows, but '" + file + ":/g/time' has 3"));
  EXPECT_TRUE(complains(uri + "&channel=minus", file + ":/g/minus' row 1: -2 is not a channel: a whole number"));
  EXPECT_TRUE(
      complains(uri + "&time=minus&channel=time", file + ":/g/minus' row 1: the time -2 is negative: say which"));
  EXPECT_TRUE(complains(uri + "&channel=real", file + ":/g/real' row 2: 2.5 is not a channel"));
  EXPECT_TRUE(
      complains(uri + "&channel=time&payload=time,wide", file + ":/g/wide' row 1: 4294967296 is above 4294967295"));
  EXPECT_TRUE(complains(uri + "&channel=table", file + ":/g/table': the dataset must have one dimension"));
  EXPECT_TRUE(complains(uri + "&channel=none", file + ":/g/none': there is no such dataset"));
  EXPECT_TRUE(complains("hdf5:" + file + "?group=/x&unit=ns", file + ":/x/time': there is no such dataset"));
  EXPECT_TRUE(complains("hdf5:" + path("none.h5"), "cannot open '" + path("none.h5")));
  EXPECT_TRUE(complains("hdf5:" + text_file("text"), "not an HDF5 file"));
  EXPECT_TRUE(complains(uri + "&rate=1", "unknown key 'rate'"));
}

TEST_F(Hdf5ReaderTest, UnwrittenRowsAreRefused) {
  constexpr hsize_t kHuge = hsize_t{1} << 60;
  const auto file = path("v.h5");
  ASSERT_EQ(mkfifo(path("pipe").c_str(), 0600), 0);
  std::ofstream(path("eight")) << std::string(64, '\0');
  {
    PlainFile plain(file);
    plain.integers("/ten", {0, 1, 2, 3, 4, 5, 6, 7, 8, 9});
    plain.mapped("/all", 10, "/ten", 10);
    plain.mapped("/few", kHuge, "/ten", 10);
    plain.external("/eight", 8, path("eight"));
    plain.external("/more", kHuge, path("eight"));
    plain.sparse("/sparse", kHuge, 1000);
    plain.mapped("/pipe", 10, "/ten", 10, path("pipe"));
  }
  const auto of = [&](const std::string& column) {
    return "hdf5:" + file + "?unit=ns&time=" + column + "&channel=" + column;
  };
  EXPECT_EQ(hits_of(of("all")).time.size(), 10U);
  EXPECT_EQ(hits_of(of("eight")).time.size(), 8U);
  EXPECT_TRUE(complains(of("few"), "only 10 were ever written"));
  EXPECT_TRUE(complains(of("more"), "only 8 were ever written"));
  EXPECT_TRUE(complains(of("sparse"), "never written"));
  EXPECT_TRUE(complains(of("pipe"), "which is missing or does not open")) << "and is not waited for";
}

TEST_F(Hdf5ReaderTest, LongColumnsAreReadBlockByBlock) {
  const auto file = path("l.h5");
  std::vector<std::uint64_t> times(200'000);
  std::iota(times.begin(), times.end(), 7U);
  std::vector<std::uint64_t> channels(times.size());
  std::ranges::transform(times, channels.begin(), [](auto t) { return t * 3 % 1021; });
  {
    PlainFile plain(file);
    plain.integers("/time", times);
    plain.integers("/channel", channels);
  }
  const auto hits = hits_of("hdf5:" + file + "?payload=channel,time&unit=ns");
  EXPECT_TRUE(std::ranges::equal(hits.time, times, {}, &Tick::value));
  EXPECT_TRUE(std::ranges::equal(hits.channel, channels));
  ASSERT_EQ(hits.payload.size(), 2 * times.size());
  for (std::size_t i = 0; i < times.size(); ++i) {
    ASSERT_EQ(hits.payload[2 * i], channels[i]);
    ASSERT_EQ(hits.payload[2 * i + 1], times[i]);
  }
}

// ---- gen

TEST(GeneratorReader, RateDurationAndChannelsAreRespected) {
  for (const std::string timing : {"static", "gaussian", "poisson", "burst"}) {
    const auto hits = hits_of("gen:" + timing + "?rate=1e6&duration=100ms&channels=16");
    // 1e5 hits are expected; bursts of 25 vary most: 5 standard deviations of 25 * sqrt(4000).
    EXPECT_NEAR(static_cast<double>(hits.size()), 1e5, 5 * 25 * std::sqrt(4000.0)) << timing;
    EXPECT_TRUE(std::ranges::is_sorted(hits.time)) << timing;
    EXPECT_LT(hits.time.back(), Tick(100'000'000)) << timing;
    EXPECT_GT(hits.time.back(), Tick(99'000'000)) << timing;
    EXPECT_EQ(std::ranges::max(hits.channel), 15U) << timing;
    EXPECT_EQ(std::ranges::min(hits.channel), 0U) << timing;
    EXPECT_TRUE(hits.payload.empty()) << timing;
  }
  EXPECT_EQ(hits_of("gen:static?rate=1000").size(), 1000U);
  EXPECT_EQ(hits_of("gen:static?rate=1000&duration=0").size(), 0U);
}

TEST(GeneratorReader, SourceNumberIsInTheChannel) {
  const auto reader = open("gen:poisson?rate=1e5&duration=10ms&channels=65536&payload=2", kBase, SourceId{67});
  EXPECT_EQ(reader->header().source, 67U);
  EXPECT_EQ(reader->header().payload, PayloadTable::uniform(2));
  EXPECT_TRUE(reader->input().path.empty());
  const auto hits = read_all(*reader);
  EXPECT_TRUE(std::ranges::all_of(hits.channel, [](auto c) { return c >> 22 == 3 && (c & 0x3fffffU) < 65536; }));
  EXPECT_EQ(hits.payload.size(), 2 * hits.size());
}

TEST(GeneratorReader, SameSeedSameHits) {
  const std::string uri = "gen:burst?rate=1e5&duration=10ms&payload=1&seed=";
  const auto one = hits_of(uri + "1");
  const auto again = hits_of(uri + "1");
  const auto other = hits_of(uri + "2");
  EXPECT_EQ(one.time, again.time);
  EXPECT_EQ(one.channel, again.channel);
  EXPECT_EQ(one.payload, again.payload);
  EXPECT_NE(one.time, other.time);
}

TEST(GeneratorReader, BadUrisAreRefused) {
  EXPECT_TRUE(complains("gen:fractal?rate=1", "there are static, gaussian, poisson, burst"));
  EXPECT_TRUE(complains("gen:poisson", "'rate=' is missing"));
  for (const std::string rate : {"0", "-1", "fast", "1e6x", "inf", "nan", ""}) {
    EXPECT_TRUE(complains("gen:poisson?rate=" + rate, rate.empty() ? "empty value" : "not a number of hits a second"));
  }
  for (const std::string timing : {"static", "gaussian", "poisson", "burst"}) {
    EXPECT_TRUE(complains("gen:" + timing + "?rate=1e300", "more than 1000 hits in a tick"));
  }
  EXPECT_GT(hits_of("gen:burst?rate=9.9e11&duration=1").size(), 0U);
  EXPECT_TRUE(complains("gen:poisson?rate=1&channels=65537", "from 1 to 65536"));
  EXPECT_TRUE(complains("gen:poisson?rate=1&channels=0", "from 1 to 65536"));
  EXPECT_TRUE(complains("gen:poisson?rate=1&duration=soon", "a length of time"));
  EXPECT_TRUE(complains("gen:poisson?rate=1&colour=1", "unknown key 'colour'"));
}

}  // namespace
}  // namespace eventloom
