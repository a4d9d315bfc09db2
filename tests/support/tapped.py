"""Runs with --tap, and their clients."""

import json
import re

from event_files import hit_list
from lmd_reference import parse_event
from mbs import Client
from monitored import Monitored


class Tapped(Monitored):
    """A run on sources with times. It replays them so slowly that no event occurs before go(), so that clients connect
    in time."""

    def __init__(self, folder, uris, *options, kind="stream", np=None):
        super().__init__(folder, uris, *options, "--tap", f"0/{kind}", "--speed", "1e-6", np=np)
        self.kind = kind

    def __enter__(self):
        return super().__enter__().listening()

    def ports(self):
        """The ports, by writer."""
        line = self.until_reported("tap: events are served at ")
        return [int(port) for port in re.findall(rf"mbs://127\.0\.0\.1:(\d+)/{self.kind} on ", line)]

    def client(self, writer=0, **options):
        client = Client(self.ports()[writer], self.kind, **options)
        if "shake" not in options:
            client.ask_ahead()
        return client

    def counter(self, name, status=None):
        return next((c["value"] for c in (status or self.status()).get("counters", []) if c["name"] == name), None)

    def until_counter(self, name, value):
        self.until_status(lambda status: self.counter(name, status) == value, f"{name} = {value}")

    def go(self, clients=0, speed=0):
        """Lets the run begin, once that many clients are connected."""
        self.until_counter("tap_clients", clients)
        headers = {"Content-Type": "application/json", "Authorization": f"Bearer {self.token}"}
        assert self.ask("/control", "POST", json.dumps({"command": "speed", "speed": speed}), headers)[0] == 202

    def ended(self, code=0):
        """The report's section on the tap, after the end of the run."""
        self.wait(code)
        return self.report()["tap"]


def events_in(data):
    """The decoded events, as they were sent."""
    return [parse_event(event[8:]) for event in data]


def hits_in(event):
    """The hits of an event that are not list-mode data: (time, source, channel, payload)."""
    (subevent,) = event.subevents
    return hit_list(subevent.data).hits
