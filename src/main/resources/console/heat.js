// The report of a tuning: its recommendation, its rows as a heat map, and the baselines.

import { curl, curlLines, shell } from './curl.js';
import { wordsOf } from './labels.js';
import { bar, count, duration, h, number, query, section } from './page.js';
import { useSettings } from './tab.js';

/** A row without colour takes this many times as long as the fastest row, or longer. */
const COLOURLESS_FACTOR = 2;
const short = new Intl.NumberFormat('en', { notation: 'compact', maximumSignificantDigits: 3 });
const time = (seconds) => duration(seconds * 1000);
const settingsOf = ({ batchSize, flush, concurrency }) => ({ batchSize, flush, concurrency });
const words = (row) => wordsOf(settingsOf(row));
const distinct = (values) => [...new Set(values)];
const increasing = (values) => distinct(values).sort((a, b) => a - b);

/** Shows the report of a tuning that was completed, stopped or cancelled. */
export function tuningReport(report) {
	const { rows, baselines, recommended, because, settings, roundTripMicros } = report;
	const measured = rows.filter((row) => row.seconds);
	const tuneAgain = h('a', { class: 'button', href: `#/tune?${query(Object.entries(settings))}` }, 'Tune again');
	if (!recommended) {
		return h('div', {}, h('p', { class: 'warning' }, `There is no recommendation: ${because}.${report.state === 'completed' ? ' Use a larger budget or fewer rows.' : ''}`), h('p', { class: 'actions' }, tuneAgain));
	}
	const best = measured.find((row) => words(row) === words(recommended));
	return h('div', {}, h('section', { class: 'good recommended', 'aria-labelledby': 'recommended-title' },
			h('h2', { id: 'recommended-title' }, report.state === 'completed' ? 'Recommended' : 'Recommended so far'),
			h('p', {}, h('strong', {}, words(recommended))),
			h('p', {}, `${number(best.recordsPerSecond)} records per second, ${time(best.seconds.median)} for ${number(settings.records)}. It is ${because}.`),
			h('p', { class: 'actions' }, h('button', { type: 'button', class: 'main', id: 'use', onclick: () => useSettings(settingsOf(recommended)) }, 'Use these settings'), tuneAgain)),
	section('heat', 'Records per second',
			h('p', { class: 'hint' }, `Each run sends ${count(settings.records, settings.op)} with values of ${count(settings.valueBytes, 'byte')}${roundTripMicros === undefined ? '' : `; a round trip takes ${duration(roundTripMicros / 1000)}`}. Times are medians.`),
			heatMaps(rows, measured, recommended)),
	section('rows', 'All rows, the fastest first', table(rows, recommended)),
	comparison(baselines, best),
	curlLines('This tuning', shell(curl(`v1/tunings?${query(Object.entries(settings))}`, { method: 'POST' })),
			'A load with these settings', shell(curl(`v1/jobs?${query(Object.entries(settingsOf(recommended)))}`, { method: 'POST', headers: { 'Content-Type': 'application/x-ndjson' }, file: 'records.ndjson' }))));
}

/** A heat map for each number of connections: batch sizes from left to right, flushes from top to bottom. */
function heatMaps(rows, measured, recommended) {
	const fastest = Math.min(...measured.map((row) => row.seconds.median));
	const sizes = increasing(rows.map((row) => row.batchSize));
	const flushes = distinct(rows.map((row) => row.flush));
	const cell = (row) => {
		if (!row) return h('td', { class: 'none' });
		if (!row.seconds) return h('td', { class: 'none', title: 'not measured within the budget' }, '–');
		const { median, min, max } = row.seconds;
		const isBest = words(row) === words(recommended);
		const element = h('td', { class: isBest ? 'best' : '', title: `${words(row)}: ${time(min)} to ${time(max)} in ${count(row.runs, 'run')}${isBest ? ', recommended' : ''}` },
				h('strong', {}, short.format(row.recordsPerSecond)), h('small', {}, time(median)));
		element.style.setProperty('--heat', `${Math.round(100 * Math.max(0, (COLOURLESS_FACTOR - median / fastest) / (COLOURLESS_FACTOR - 1)))}%`);
		return element;
	};
	const tables = increasing(rows.map((row) => row.concurrency)).map((lanes) => h('table', { class: 'heat' }, h('caption', {}, count(lanes, 'connection')),
			h('thead', {}, h('tr', {}, h('td', {}, h('small', {}, 'flush, records per batch')), sizes.map((size) => h('th', { scope: 'col' }, number(size))))),
			h('tbody', {}, flushes.map((flush) => h('tr', {}, h('th', { scope: 'row' }, flush),
					sizes.map((size) => cell(rows.find((row) => row.batchSize === size && row.flush === flush && row.concurrency === lanes))))))));
	return h('figure', { class: 'heats' }, h('div', { class: 'maps', tabindex: 0, role: 'region', 'aria-label': 'Heat map; the table below has the same data' }, tables),
			h('figcaption', {}, h('span', {}, 'half as fast or slower'), h('span', { class: 'scale' }), h('span', {}, 'fastest'), h('span', { class: 'ringed' }, h('span', { class: 'ring' }), ' recommended')));
}

function table(rows, recommended) {
	const speed = (row) => row.recordsPerSecond ?? -1;
	const known = (value, text) => value === undefined ? '' : text(value);
	const columns = [['Records per batch', (row) => number(row.batchSize)], ['Flush', (row) => row.flush, ''], ['Connections', (row) => number(row.concurrency)],
		['Records/s', (row) => known(row.recordsPerSecond, number)], ['Time', (row) => known(row.seconds, ({ median }) => time(median))],
		['From – to', (row) => known(row.seconds, ({ min, max }) => `${time(min)} – ${time(max)}`)], ['Batch p99', (row) => known(row.batchP99Millis, duration)],
		['Writes', (row) => known(row.writes, number)], ['CPU of Redis', (row) => known(row.redisCpuSeconds, time)], ['Runs', (row) => number(row.runs)]];
	return h('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'The rows' }, h('table', { class: 'rows' },
			h('thead', {}, h('tr', {}, columns.map(([title, , kind]) => h('th', { scope: 'col', class: kind ?? 'number' }, title)), h('th', { scope: 'col' }, h('span', { class: 'unseen' }, 'Use')))),
			h('tbody', {}, [...rows].sort((a, b) => speed(b) - speed(a)).map((row) => h('tr', { class: words(row) === words(recommended) ? 'best' : '' },
					columns.map(([, text, kind]) => h('td', { class: kind ?? 'number' }, text(row))),
					h('td', {}, h('button', { type: 'button', class: 'quiet', 'aria-label': `Use ${words(row)}`, onclick: () => useSettings(settingsOf(row)) }, 'Use')))))));
}

/** Compares the recommended row with the baselines, which use no pipeline or a poor one. */
function comparison(baselines, best) {
	const max = Math.max(best.recordsPerSecond, ...baselines.map((way) => way.recordsPerSecond ?? 0));
	const row = (name, speed, note) => h('div', { class: 'bar' }, h('dt', {}, name), speed === undefined ? h('dd', { class: 'hint' }, note)
		: h('dd', {}, bar(speed, max, name), h('span', { class: 'number' }, `${number(speed)}/s`), h('small', {}, note)));
	const times = (factor) => `${factor < 10 ? factor.toFixed(1) : number(factor)} times as fast`;
	return section('comparison', 'Comparison with no pipeline', h('dl', { class: 'bars' },
			row('recommended', best.recordsPerSecond, ''),
			baselines.map((way) => row(way.how, way.recordsPerSecond, way.recordsPerSecond === undefined ? 'not measured within the budget'
				: `the recommended row is ${times(best.recordsPerSecond / way.recordsPerSecond)}${way.extrapolatedFrom ? `; measured with ${count(way.extrapolatedFrom, 'command')}` : ''}`))));
}
