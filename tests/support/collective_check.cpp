#include "tests/support/collective_check.hpp"

#include <sched.h>

#include <cstdint>

namespace eventloom {

namespace {

struct Place {
  std::uint64_t begin = 0;
  int rank = 0;

  bool operator==(const Place&) const = default;
};

Place place_of(int rank) { return {(std::uint64_t{1} << 40) + static_cast<unsigned>(rank), rank}; }

/// Texts whose lengths differ between ranks: empty on rank 0, with NUL bytes on rank 1.
std::string text_of(int rank) {
  return std::string(static_cast<std::size_t>(1000 * rank), static_cast<char>(rank - 1));
}

/// As many places as the rank's number: none on rank 0.
std::vector<Place> places_of(int rank) { return std::vector(static_cast<std::size_t>(rank), place_of(rank)); }

/// Texts of different lengths, empty ones among them: none on rank 0.
std::vector<std::string> texts_of(int rank) {
  std::vector<std::string> texts;
  for (int i = 0; i < rank; ++i) texts.push_back(text_of(i));
  return texts;
}

template <class T>
bool by_rank(const std::vector<T>& all, int ranks, T (*expected)(int rank)) {
  bool good = all.size() == static_cast<std::size_t>(ranks);
  for (int r = 0; good && r < ranks; ++r) good = all[static_cast<std::size_t>(r)] == expected(r);
  return good;
}

bool any_on_each(const Collective& ranks) {
  bool good = !ranks.any(false);
  for (int r = 0; r < ranks.size(); ++r) good &= ranks.any(ranks.rank() == r);
  return good;
}

}  // namespace

std::string collective_fault(const Collective& ranks) {
  const int n = ranks.size();
  const int rank = ranks.rank();
  std::string fault;
  const auto check = [&](bool good, const char* what) {
    if (!good && fault.empty()) fault = what;
  };
  check(by_rank(ranks.all_gather(place_of(rank)), n, place_of), "all_gather of values");
  check(by_rank(ranks.all_gather(places_of(rank)), n, places_of), "all_gather of lists");
  check(by_rank(ranks.all_gather(text_of(rank)), n, text_of), "all_gather of texts");
  check(by_rank(ranks.all_gather(texts_of(rank)), n, texts_of), "all_gather of lists of texts");
  check(by_rank(
            ranks.all_gather(std::string()), n, +[](int) { return std::string(); }),
        "all_gather of nothing");
  check(ranks.broadcast(place_of(rank)) == place_of(0), "broadcast of a value");
  check(ranks.broadcast(rank == 0), "broadcast of a bool");
  check(ranks.broadcast(text_of(rank + 2 * n * (rank == 0 ? 1 : 0))) == text_of(2 * n), "broadcast of a long text");
  check(ranks.broadcast(text_of(rank)).empty(), "broadcast of an empty text");
  check(any_on_each(ranks), "any");
  check(ranks.max(-rank) == 0, "max of ints");
  check(ranks.max(0.5 * rank) == 0.5 * (n - 1), "max of doubles");
  check(ranks.sum(std::uint64_t{1} << 40) == static_cast<std::uint64_t>(n) << 40, "sum");
  const auto barrier = ranks.barrier();
  while (!barrier->done()) sched_yield();
  return fault;
}

}  // namespace eventloom
