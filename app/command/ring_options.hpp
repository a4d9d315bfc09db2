#pragma once

#include <boost/program_options/options_description.hpp>
#include <boost/program_options/variables_map.hpp>

#include "core/control/collective.hpp"
#include "core/engine/ring_rule.hpp"
#include "core/engine/role_layout.hpp"

/// The options --ring-depth and --cell-size, whose defaults follow core/engine/ring_rule.hpp.
namespace eventloom {

void add_ring_options(boost::program_options::options_description& options);
/// Throws UserError.
RingOptions ring_options(const boost::program_options::variables_map& values);

/// Adds the option --transfers-in-flight.
void add_transfers_option(boost::program_options::options_description& options);
/// 0: chosen by message size. Throws UserError.
std::uint32_t transfers_option(const boost::program_options::variables_map& values);

/// Defaults of the number and the size of a ring's cells, as shown in --help.
inline constexpr const char* kDefaultDepth = "for 4 messages, else 2";
inline constexpr const char* kDefaultCell = "a message, at least 64KiB";
/// Return the given depth or size; std::nullopt if the option's text is empty. `name`: name of the option.
std::optional<std::uint32_t> depth_option(const boost::program_options::variables_map& values, const char* name);
std::optional<std::uint64_t> cell_option(const boost::program_options::variables_map& values, const char* name);

/// Collective. Returns the same values on all ranks: the maximum number of rings that end on one rank, the
/// smallest second-level cache, and a quarter of the memory available to the rank with the least. The message size
/// remains unknown.
RingNeeds ring_needs(const Collective& ranks, const Roles& roles);

/// Example: "8 cells of 64 KiB".
std::string ring_text(const RingSize& ring);

}  // namespace eventloom
