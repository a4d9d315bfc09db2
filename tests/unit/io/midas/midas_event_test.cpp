#include "io/midas/midas_event.hpp"

#include <gtest/gtest.h>

#include <array>
#include <span>
#include <vector>

namespace eventloom {
namespace {

/// The beginning of an event of a DarkSide-20k prototype as mdump shows it, published at
/// bitbucket.org/ttriumfdaq/dsproto_daq/wiki/DataFormat: its header, that of its banks, the first bank with its ten
/// words, and the header of the second. The lengths are cut to what the page shows.
constexpr std::array<std::uint32_t, 29> kPublished = {
    0x00020001, 0x00020cba, 0x5c9e1168, 0x00000064, 0x0000005c, 0x00000011, 0x30514d5a, 0x00000006,
    0x00000028, 0x01159cca, 0x00020cbb, 0x00015a4d, 0xec78d234, 0x00000040, 0x00010002, 0xffffffff,
    0x00000000, 0xffffffff, 0x00000000, 0x30303257, 0x00000006, 0x0000001c, 0xa0061a84, 0x000040ff,
    0xff020cba, 0xec78da03, 0x00000000, 0x00000000, 0x00000000};

std::span<const std::byte> published() { return std::as_bytes(std::span(kPublished)); }

TEST(MidasEvent, PublishedDump) {
  ASSERT_TRUE(begins_midas_event(published()));
  const auto header = read_midas_header(published());
  EXPECT_EQ(header.id, 1);
  EXPECT_EQ(header.mask, 2);
  EXPECT_EQ(header.serial, 0x20cbaU);
  EXPECT_EQ(header.seconds, 1553863016U) << "2019-03-29";
  EXPECT_FALSE(header.of_logger());
  std::vector<MidasBank> banks;
  EXPECT_EQ(read_midas_banks(published().subspan(MidasHeader::kBytes), banks), "");
  ASSERT_EQ(banks.size(), 2U);
  EXPECT_EQ(banks[0].name, midas_name("ZMQ0"));
  EXPECT_EQ(banks[0].type, 6U) << "unsigned, 32 bits";
  EXPECT_EQ(banks[0].data.size(), 40U);
  EXPECT_EQ(banks[1].name, midas_name("W200"));
  EXPECT_EQ(banks[1].data.size(), 28U);
}

TEST(MidasEvent, LengthsThatContradictEachOther) {
  auto words = kPublished;
  std::vector<MidasBank> banks;
  words[8] = 0x128;
  const auto bytes = std::as_bytes(std::span(words));
  EXPECT_NE(read_midas_banks(bytes.subspan(MidasHeader::kBytes), banks).find("a bank of 296 bytes"), std::string::npos);
  EXPECT_TRUE(banks.empty());
  words[4] ^= 4;
  EXPECT_FALSE(begins_midas_event(bytes));
  EXPECT_FALSE(begins_midas_event(published().first(23)));
}

TEST(MidasEvent, NamesAndChannels) {
  EXPECT_EQ(midas_channel(*midas_name("AAAA")), 0U);
  EXPECT_EQ(midas_channel(*midas_name("AAB9")), 37U + 35);
  EXPECT_EQ(midas_channel(*midas_name("____")), 37U * 37 * 37 * 37 - 1);
  EXPECT_TRUE(midas_name_is_folded(*midas_name("ADC_")));
  EXPECT_FALSE(midas_name_is_folded(*midas_name("ADC0")));
  EXPECT_FALSE(midas_name("ADC"));
}

}  // namespace
}  // namespace eventloom
