#include "app/document/joined_bins.hpp"

#include <gtest/gtest.h>

#include <numeric>

#include "app/view/hist/histogram_plot.hpp"

namespace eventloom {
namespace {

/// Bins 0, 1, 2, ... along each axis; the count of a cell is 100 times its first bin plus its second.
HistogramRecord numbered_cells(std::size_t first, std::size_t second) {
  HistogramRecord histogram{"h", "", {}, {}, 3, 4};
  for (const auto bins : {first, second}) {
    if (bins == 0) continue;
    std::vector<double> edges(bins + 1);
    std::iota(edges.begin(), edges.end(), 0.0);
    histogram.axes.push_back({"n", "", edges});
  }
  for (std::size_t i = 0; i < first; ++i) {
    for (std::size_t j = 0; j < std::max<std::size_t>(second, 1); ++j) histogram.counts.push_back(100 * i + j);
  }
  return histogram;
}

TEST(JoinedBins, SumNeighbours) {
  const auto joined = joined_bins(numbered_cells(7, 0), 3);
  EXPECT_EQ(joined.axes[0].edges, (std::vector<double>{0, 3, 6, 7}));
  EXPECT_EQ(joined.counts, (std::vector<std::uint64_t>{300, 1200, 600}));
  EXPECT_EQ(joined.underflow, 3U);
  EXPECT_EQ(joined.overflow, 4U);
}

TEST(JoinedBins, OfTwoAxes) {
  const auto joined = joined_bins(numbered_cells(3, 5), 2);
  EXPECT_EQ(joined.axes[0].edges, (std::vector<double>{0, 2, 3}));
  EXPECT_EQ(joined.axes[1].edges, (std::vector<double>{0, 3, 5}));
  // Rows 0 and 1 with columns 0 to 2, then with 3 and 4; row 2 likewise.
  EXPECT_EQ(joined.counts, (std::vector<std::uint64_t>{306, 214, 603, 407}));
}

TEST(JoinedBins, FewStayAsTheyAre) {
  const auto histogram = numbered_cells(4, 3);
  EXPECT_EQ(joined_bins(histogram, 4).counts, histogram.counts);
}

/// The first axis points right, the second one up.
TEST(HistogramPlot, PutsCellsInTheirPlace) {
  const auto plot = plot_of(numbered_cells(2, 3), false);
  ASSERT_TRUE(plot.grid);
  EXPECT_EQ(plot.grid->columns, 2U);
  EXPECT_EQ(plot.grid->rows, 3U);
  EXPECT_EQ(plot.grid->values, (std::vector<double>{0, 100, 1, 101, 2, 102}));
  EXPECT_EQ(plot.grid->x_high, 2);
  EXPECT_EQ(plot.grid->y_high, 3);
}

}  // namespace
}  // namespace eventloom
