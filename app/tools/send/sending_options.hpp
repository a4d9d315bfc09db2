#pragma once

#include <boost/program_options/options_description.hpp>
#include <boost/program_options/variables_map.hpp>
#include <cstddef>
#include <ostream>
#include <string>
#include <vector>

#include "app/tools/send/live_sender.hpp"

/// Options shared by the commands that send streams over UDP.
namespace eventloom {

/// Adds `to`, `flush-after`, `datagram` and `session`.
void add_sending_options(boost::program_options::options_description& options);

/// Returns the values of these options for `streams` streams. Throws UserError.
LiveSenderSettings sending_options(const boost::program_options::variables_map& values, std::size_t streams);

/// Returns the board ports that --to names, trb://HOST:PORT[,PORT...], as one HOST:PORT each; empty if there are none.
/// Throws UserError if --to also names other destinations.
std::vector<std::string> trb_ports(const boost::program_options::variables_map& values);

/// Example: ", 3 times nobody listened, 2 times the buffer was full"; omits what did not occur.
std::string trouble_text(const UdpSender::Count& count);

/// Prints a line per stream.
void print_sent(const std::vector<SentStream>& sent, std::ostream& out);

/// Returns whether a signal has requested a stop; reports it the first time.
bool asked_to_stop();

}  // namespace eventloom
