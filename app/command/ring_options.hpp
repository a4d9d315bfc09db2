#pragma once

#include <boost/program_options/options_description.hpp>
#include <boost/program_options/variables_map.hpp>

#include "core/control/collective.hpp"
#include "core/engine/ring_rule.hpp"
#include "core/engine/role_layout.hpp"

/// The options --ring-depth and --cell-size, whose defaults are those of core/engine/ring_rule.hpp.
namespace eventloom {

void add_ring_options(boost::program_options::options_description& options);
/// Throws UserError.
RingOptions ring_options(const boost::program_options::variables_map& values);

/// The option --transfers-in-flight.
void add_transfers_option(boost::program_options::options_description& options);
/// 0: by the length of messages. Throws UserError.
std::uint32_t transfers_option(const boost::program_options::variables_map& values);

/// The default of an option for the cells of a ring, as --help shows it, and likewise for their size.
inline constexpr const char* kDefaultDepth = "for 4 messages, else 2";
inline constexpr const char* kDefaultCell = "a message, at least 64KiB";
/// Depth and size as options give them; nothing where their text is empty. `name`: of the option.
std::optional<std::uint32_t> depth_option(const boost::program_options::variables_map& values, const char* name);
std::optional<std::uint64_t> cell_option(const boost::program_options::variables_map& values, const char* name);

/// Collective: what the ranks of a run have, the same on all of them: the most rings that end on one rank, the smallest
/// second-level cache, and a quarter of the memory that the rank with the least can get. Messages are of unknown size.
RingNeeds ring_needs(const Collective& ranks, const Roles& roles);

/// "8 cells of 64 KiB".
std::string ring_text(const RingSize& ring);

}  // namespace eventloom
