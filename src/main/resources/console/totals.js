// The totals of an analysis, and its largest keys.

import { MAX_CHARACTERS } from './analyses.js';
import { bytes, count, duration, h, number, percent, section, tile } from './page.js';
import { displayName, nameOf, truncate } from './prefixes.js';
import { VirtualTable } from './rows.js';

const TIMES = { '1m': 'up to 1 minute', '1h': 'up to 1 hour', '1d': 'up to 1 day', '7d': 'up to 7 days', longer: 'longer', never: 'never expire' };

export function nameElement(text) {
	return h('span', { class: 'name', title: (text.length > MAX_CHARACTERS) ? null : text }, truncate(text, MAX_CHARACTERS));
}

export function tiles(node, hasMemory) {
	return h('dl', { class: 'tiles' }, tile('keys', number(node.keys)), hasMemory ? tile('memory', bytes(node.bytes), 'as MEMORY USAGE reports it') : '', hasMemory ? tile('mean size', bytes(node.bytes / node.keys)) : '',
			tile('never expire', percent(node.withoutTtl / node.keys), `${count(node.withoutTtl, 'key')}`));
}

export function rail(share) {
	const element = h('span', { class: 'filled' });
	element.style.width = `${share * 100}%`;
	return h('span', { class: 'rail', 'aria-hidden': 'true' }, element);
}

function bars(title, rows) {
	const id = `${title.replace(/\W/g, '-').toLowerCase()}-title`;
	const max = Math.max(...rows.map(({ value }) => value), 1);
	return h('section', { class: 'card', 'aria-labelledby': id }, h('h2', { id }, title), h('table', { class: 'ranks', 'aria-labelledby': id }, h('tbody', {}, rows.map(({ label, value, words }) => h('tr', {},
			h('th', { scope: 'row' }, label), h('td', { class: 'rails' }, rail(value / max)), words.map((word) => h('td', { class: 'number' }, word)))))));
}

/** The entries without the empty ones at both ends. */
function trimmed(entries) {
	const filled = entries.map(({ keys }) => keys > 0);
	return entries.slice(filled.indexOf(true), filled.lastIndexOf(true) + 1);
}

export function totals(report, node, isRoot, hasMemory) {
	// These totals include the keys of the service itself.
	const share = (keys) => percent(keys / (isRoot ? report.keys : node.keys));
	if (!isRoot) {
		return [bars('Types', [...node.types].sort((one, other) => other[1] - one[1]).map(([type, keys]) => ({ label: type, value: keys, words: [number(keys), share(keys)] })))];
	}
	return [bars('Types', report.types.map(({ type, keys, bytes: size }) => ({ label: type, value: size ?? keys, words: hasMemory ? [number(keys), bytes(size)] : [number(keys), share(keys)] }))),
		bars('TTL', report.ttls.map(({ within, keys }) => ({ label: TIMES[within] ?? within, value: keys, words: [number(keys), share(keys)] }))),
		...(hasMemory ? [bars('Size of a key', trimmed(report.sizes).map(({ upToBytes, keys }) => ({ label: `up to ${bytes(upToBytes)}`, value: keys, words: [number(keys), share(keys)] })))] : [])];
}

export function largest(report, node, isRoot, isShown) {
	const keys = report.largest.filter(({ key }) => isShown(key)).map((key) => ({ ...key, name: nameOf(key.key) })).filter(({ name: one }) => one.startsWith(isRoot ? '' : node.name));
	if (keys.length === 0) return [];
	const rows = new VirtualTable('The largest keys', [
		{ title: 'Key', kind: 'wide', cell: (key) => nameElement(displayName(key.name)) },
		{ title: 'Type', kind: 'narrow', cell: (key) => key.type },
		{ title: 'Memory', kind: 'number', cell: (key) => bytes(key.bytes) },
		{ title: 'Elements', kind: 'number', cell: (key) => key.elements === null ? '' : number(key.elements) },
		{ title: 'Expires in', kind: 'number', cell: (key) => key.ttlMillis === null ? 'never' : duration(key.ttlMillis) },
	]);
	rows.show(keys);
	return [section('largest', isRoot ? 'Largest keys' : `Among the ${number(report.largest.length)} largest keys of the analysis`, rows.element,
			report.elementsLeftOut ? h('p', { class: 'hint' }, `Without their elements: ${report.elementsLeftOut}`) : '')];
}
