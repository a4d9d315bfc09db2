#include "app/observe/alarms.hpp"

#include <chrono>
#include <utility>

#include "app/observe/utc_text.hpp"
#include "core/runtime/activity.hpp"
#include "core/runtime/log.hpp"

namespace eventloom {

namespace {

constexpr auto kToFinish = std::chrono::seconds(5);

}  // namespace

Alarms::Alarms(std::vector<AlarmCondition> conditions, std::vector<std::string> command, std::string run)
    : conditions_(std::move(conditions)), open_(conditions_.size()), run_(std::move(run)) {
  for (const auto& condition : conditions_) states_.push_back({condition.text, false, "", std::nullopt});
  if (!command.empty()) command_.emplace(std::move(command));
}

void Alarms::look(RunSnapshot& snapshot) {
  for (std::size_t i = 0; i < conditions_.size(); ++i) {
    const auto value = conditions_[i].value(snapshot);
    if (!value) continue;
    states_[i].value = value;
    if (conditions_[i].holds(*value) != states_[i].active) change(i);
  }
  snapshot.alarms = states_;
}

void Alarms::change(std::size_t number) {
  const auto& condition = conditions_[number];
  auto& state = states_[number];
  const auto now = utc_text(std::chrono::system_clock::now());
  const auto value = alarm_value_text(*state.value, condition.unit);
  state.active = !state.active;
  if (state.active) {
    state.raised = now;
    log::error("alarm: {} ({})", condition.text, value);
  } else {
    log::warn("alarm over: {} ({})", condition.text, value);
  }
  keep(number, now);
  if (!command_) return;
  const auto source = condition.source && *condition.source < sources_.size() ? sources_[*condition.source] : "";
  command_->run({{"EVENTLOOM_ALARM", condition.text},
                 {"EVENTLOOM_SOURCE", source},
                 {"EVENTLOOM_STATE", state.active ? "raised" : "cleared"},
                 {"EVENTLOOM_VALUE", value},
                 {"EVENTLOOM_TIME", now},
                 {"EVENTLOOM_RUN", run_}});
}

/// Records the change for the output.
void Alarms::keep(std::size_t number, const std::string& now) {
  const auto& condition = conditions_[number];
  const auto& state = states_[number];
  auto& open = open_[number];
  if (state.active && records_.size() < kMostRecords) {
    open = records_.size();
    records_.push_back({condition.text, condition.quantity, condition.unit, now, "", condition.limit, *state.value});
    if (records_.size() == kMostRecords) log::warn("further alarms are reported, but not kept in the output");
  } else if (!state.active && open) {
    records_[*open].over = now;
    open.reset();
  }
}

void Alarms::finish() {
  const Activity activity("waiting for --alarm-command");
  if (command_) command_->finish(kToFinish);
}

}  // namespace eventloom
