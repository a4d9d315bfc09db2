// The parts of a status document to show: each panel takes one part, and is omitted if that part is absent.

function some(list) {
  return Array.isArray(list) && list.length > 0 ? list : null;
}

function histogramOf(name) {
  return (doc) => {
    const histogram = doc.histograms && doc.histograms[name];
    return histogram && some(histogram.counts) ? { ...histogram, share_counted: doc.share_counted } : null;
  };
}

function invocationsOf(run) {
  return {
    command_lines: run.command_lines || (run.command_line ? [run.command_line] : []),
    time_of_tick_0: run.time_of_tick_0,
  };
}

// {id, title, wide, of: the part of the document or null, draw(part, width, redraw): nodes}
const PANELS = [
  { id: 'alarms', title: 'Alarms', wide: true, of: (doc) => some(doc.alarms), draw: alarmsPanel },
  {
    id: 'flow',
    title: 'Data flow',
    wide: true,
    of: (doc) => some(doc.builders) && { sources: doc.sources, builders: doc.builders, filters: doc.filters },
    draw: flowPanel,
  },
  {
    id: 'series',
    title: 'Rates over time',
    wide: true,
    of: (doc) => doc.series && (some(doc.series.hits_per_s) || some(doc.series.events_per_s)) && doc.series,
    draw: seriesPanel,
  },
  {
    id: 'run-series',
    title: 'Rates during the run',
    wide: true,
    of: (doc) => doc.run_series && some(doc.run_series.hits_per_s) && doc.run_series,
    draw: seriesPanel,
  },
  { id: 'ledger', title: 'Ledger: what became of every hit', of: (doc) => doc.ledger, draw: ledgerPanel },
  {
    id: 'losses',
    title: 'Losses by source and cause',
    wide: true,
    of: (doc) => some((doc.sources || []).filter(hasLosses)),
    draw: lossesPanel,
  },
  {
    id: 'latency',
    title: 'Latency over time',
    of: (doc) => [doc.series, doc.run_series].find((series) => series && some(finite(series.latency_p50_ns || []))),
    draw: latencyPanel,
  },
  { id: 'multiplicity', title: 'Multiplicity', of: histogramOf('multiplicity'), draw: histogramPanel },
  { id: 'duration', title: 'Duration of events', of: histogramOf('duration'), draw: histogramPanel },
  { id: 'interval', title: 'Time between events', of: histogramOf('interval'), draw: histogramPanel },
  { id: 'spectra', title: 'Histograms', wide: true, of: spectraOf, draw: spectraPanel },
  { id: 'latencies', title: 'Latency of events', of: histogramOf('latency'), draw: histogramPanel },
  {
    id: 'sources',
    title: 'Hits by source',
    of: (doc) => some(doc.sources) && { kind: doc.kind, sources: doc.sources },
    draw: sourcesPanel,
  },
  {
    id: 'channels',
    title: 'Hits by channel',
    of: (doc) =>
      some((doc.channels || []).filter((c) => c.channel.length)) && {
        channels: doc.channels,
        sources: doc.sources,
        share_counted: doc.share_counted,
      },
    draw: channelsPanel,
  },
  {
    id: 'groups',
    title: 'Hits by group',
    of: (doc) => doc.groups && some(doc.groups.name) && { groups: doc.groups, share_counted: doc.share_counted },
    draw: groupsPanel,
  },
  {
    id: 'balance',
    title: 'Balance between builders',
    of: (doc) => doc.balance && some(doc.balance.hits_of_builder || doc.balance.slices_of_builder) && doc.balance,
    draw: balancePanel,
  },
  {
    id: 'links',
    title: 'Links: a row for each rank, a column for each builder',
    of: (doc) => doc.links && some(doc.links.rows) && some(doc.links.columns) && doc.links,
    draw: linksPanel,
  },
  { id: 'filters', title: 'Filters', of: (doc) => some(doc.filters), draw: filtersPanel },
  { id: 'ranks', title: 'Ranks', of: (doc) => some(doc.ranks), draw: ranksPanel },
  { id: 'clocks', title: 'Clocks', of: (doc) => some(doc.clocks), draw: clocksPanel },
  {
    id: 'events',
    title: 'Events',
    wide: true,
    of: (doc) =>
      some(doc.events) && {
        ...listOfEvents(doc),
        sources: doc.sources,
        groups: (doc.groups || {}).name || [],
        positions: ((doc.setup || {}).detector || {}).positions,
      },
    draw: eventsPanel,
  },
  {
    id: 'setup',
    title: 'Setup',
    of: (doc) => doc.setup && { ...doc.setup, ...invocationsOf(doc.run || {}) },
    draw: setupPanel,
  },
  { id: 'log', title: 'Log', of: (doc) => some(doc.log), draw: logPanel },
  { id: 'commands', title: 'Commands received', of: (doc) => some(doc.commands), draw: commandsPanel },
  { id: 'counters', title: 'Counters', of: (doc) => some(doc.counters), draw: countersPanel },
];
