// Shows that a tool for races sees what it is asked to see, and nothing else: threads by OpenMP and std::async.
// usage: race_control clean|openmp|async. The last two have a race on purpose.

#include <cstdio>
#include <cstring>
#include <future>
#include <numeric>
#include <vector>

namespace {

constexpr int kTurns = 100000;

long openmp(bool with_race) {
  std::vector<long> own(kTurns);
  long shared = 0;
#pragma omp parallel for schedule(dynamic, 1) num_threads(2)
  for (int i = 0; i < kTurns; ++i) {
    own[static_cast<std::size_t>(i)] = i;
    if (with_race) shared += i;
  }
  return shared + std::accumulate(own.begin(), own.end(), 0L);
}

long async(bool with_race) {
  long value = 1;
  auto done = std::async(std::launch::async, [&value] { value *= 2; });
  if (with_race) value += 1;
  done.get();
  return value;
}

}  // namespace

int main(int count, char** words) {
  const char* kind = count == 2 ? words[1] : "clean";
  const long sum = openmp(std::strcmp(kind, "openmp") == 0) + async(std::strcmp(kind, "async") == 0);
  std::printf("%s %ld\n", kind, sum);
}
