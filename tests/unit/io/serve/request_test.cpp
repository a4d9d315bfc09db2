#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "io/serve/mbs_server_request.hpp"

namespace eventloom {
namespace {

using Requests = std::vector<MbsRequest>;

Requests decode(const std::string& text, std::size_t step) {
  MbsRequestDecoder decoder;
  Requests found;
  for (std::size_t at = 0; at < text.size(); at += step) {
    const auto part = text.substr(at, step);
    auto bytes = std::as_bytes(std::span(part));
    while (const auto request = decoder.take(bytes)) found.push_back(*request);
    EXPECT_TRUE(bytes.empty());
  }
  return found;
}

std::string request(const std::string& word, char rest = '\0') {
  auto text = word + '\0';
  text.resize(MbsRequestDecoder::kRequestBytes, rest);
  return text;
}

TEST(MbsRequest, WordsEndWithNulAndAnythingMayFollow) {
  EXPECT_EQ(decode(request("GETEVT"), 12), Requests{MbsRequest::events});
  EXPECT_EQ(decode(request("GETEVT", '\xff'), 12), Requests{MbsRequest::events});
  EXPECT_EQ(decode(request("CLOSE", 'x'), 12), Requests{MbsRequest::close});
}

TEST(MbsRequest, OtherWordsAreUnknown) {
  for (const auto* word : {"", "GETEVTX", "GETEV", "getevt", "CLOSED", "GET / HTTP/"}) {
    EXPECT_EQ(decode(request(word), 12), Requests{MbsRequest::unknown}) << word;
  }
  EXPECT_EQ(decode("GETEVTGETEVT", 12), Requests{MbsRequest::unknown});
}

TEST(MbsRequest, ComeInPiecesOfAnySize) {
  const auto text = request("GETEVT", 'g') + request("GETEVT") + request("CLOSE") + "GETEV";
  const Requests expected = {MbsRequest::events, MbsRequest::events, MbsRequest::close};
  for (std::size_t step = 1; step <= text.size(); ++step) EXPECT_EQ(decode(text, step), expected) << step;
}

}  // namespace
}  // namespace eventloom
