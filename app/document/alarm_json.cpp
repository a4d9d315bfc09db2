#include "app/document/alarm_json.hpp"

namespace eventloom {

Json to_json(const AlarmRecord& alarm) {
  return {{"condition", alarm.condition},
          {"quantity", alarm.quantity},
          {"unit", alarm.unit},
          {"raised", alarm.raised},
          {"over", alarm.over.empty() ? Json() : Json(alarm.over)},
          {"limit", alarm.limit},
          {"value", alarm.value}};
}

}  // namespace eventloom
