// The beginning of a file: its format, and its first records.

import { partsOf } from './service.js';

const SAMPLE_BYTES = 256 * 1024;

/** The most columns that are offered. */
const MAX_COLUMNS = 200;
const MAX_ROWS = 20;

export const FORMATS = {
	'text/csv': 'CSV',
	'text/tab-separated-values': 'TSV',
	'application/x-ndjson': 'NDJSON, a record a line',
	'application/json': 'JSON',
	'text/plain': 'redis-cli commands',
	'application/x-redis-resp': 'RESP, as redis-cli --pipe reads it',
};

/** Whether templates can make records from this format. */
export function isData(type) {
	return isRows(type) || type === 'application/x-ndjson' || type === 'application/json';
}

export function isRows(type) {
	return type === 'text/csv' || type === 'text/tab-separated-values';
}

/** Reads the beginning of a file, inflated if it is gzip. */
export async function sampleOf(blob) {
	const start = new Uint8Array(await blob.slice(0, SAMPLE_BYTES).arrayBuffer());
	if (start[0] !== 0x1F || start[1] !== 0x8B) return sample(start, start.length === blob.size, false);
	const parts = [];
	let size = 0;
	let whole = true;
	try {
		for await (const part of partsOf(inflated(blob))) {
			parts.push(part);
			size += part.length;
			if (size >= SAMPLE_BYTES) {
				whole = false;
				break;
			}
		}
	} catch {
		// The preview shows the inflated part. The service reports the error.
		whole = false;
	}
	return sample(new Uint8Array(await new Blob(parts).arrayBuffer()), whole, true);
}

/** A sample of rows that the service has read as JSON. */
export function sampleOfRows(rows) {
	return sample(new TextEncoder().encode(rows.join('\n')), true, false);
}

function sample(bytes, whole, gzip) {
	return { bytes, whole, gzip, text: new TextDecoder().decode(bytes) };
}

function inflated(blob) {
	return blob.stream().pipeThrough(new DecompressionStream('gzip'));
}

/** Splits a text at the separators that are not in quotes. */
function split(text, separator, quotes) {
	const parts = [];
	let isOpen = false;
	for (const piece of text.split(separator)) {
		if (isOpen) {
			parts[parts.length - 1] += separator + piece;
		} else {
			parts.push(piece);
		}
		isOpen = quotes && isOpen === (piece.split('"').length % 2 === 1);
	}
	return parts;
}

function cellsOf(row, delimiter, quotes = true) {
	const cells = split(row.replace(/\r$/, ''), delimiter, quotes);
	return quotes ? cells.map((cell) => cell.replace(/^"(.*)"$/s, '$1').replaceAll('""', '"')) : cells;
}

/** The cells of the first row that is not empty. */
function firstCells(text, { type, delimiter }) {
	const quotes = type === 'text/csv';
	return cellsOf(split(text, '\n', quotes).find((row) => row.trim()) ?? '', delimiter, quotes);
}

/** The texts of the first elements of a JSON array, or of consecutive objects. */
function jsonElements(text, max) {
	const elements = [];
	const level = /^\s*\[/.test(text) ? 1 : 0;
	let depth = 0;
	let from = 0;
	for (const { 0: [token], index } of text.matchAll(/"[^"\\]*(?:\\.[^"\\]*)*"?|[{}[\]]/gs)) {
		if (token === '{' || token === '[') {
			from = (depth++ === level) ? index : from;
		} else if (token !== '"' && --depth === level) {
			elements.push(text.substring(from, index + 1));
		}
		if (elements.length === max || depth < 0) break;
	}
	return elements;
}

/** The size of the first RESP commands, in bytes. */
function respEnd(bytes, max) {
	let at = 0;
	const header = () => {
		const end = bytes.indexOf(0x0A, at);
		const line = String.fromCharCode(...bytes.slice(at, at + 20));
		at = (end < 0) ? bytes.length + 1 : end + 1;
		return Number.parseInt(line.substring(1), 10);
	};
	let end = 0;
	for (let i = 0; i < max && at < bytes.length; i++) {
		for (let words = header(); words > 0 && at < bytes.length; words--) {
			const length = header();
			at += length + 2;
		}
		end = (at <= bytes.length) ? at : end;
	}
	return end;
}

function delimiterOf(text) {
	const rows = split(text, '\n', true).filter((row) => row.trim()).slice(0, MAX_ROWS);
	const score = (delimiter) => {
		const counts = rows.map((row) => cellsOf(row, delimiter).length);
		const same = counts.filter((count) => count === counts[0]).length;
		// One row in five may be malformed.
		return (counts[0] > 1 && same >= counts.length * 0.8) ? same * counts[0] : 0;
	};
	return [',', ';', '\t', '|'].reduce((best, delimiter) => score(delimiter) > score(best) ? delimiter : best);
}

/** The names in a header are distinct, and are no numbers. */
function isHeader(cells) {
	return cells.every((cell) => cell.trim() && !/^[-+]?[\d.,:/-]+$/.test(cell.trim())) && new Set(cells).size === cells.length;
}

function typeOf(text, operations) {
	const begin = text.trimStart();
	const line = begin.split(/\r?\n/, 1)[0];
	if (/^\*\d+\r\n\$/.test(text)) return 'application/x-redis-resp';
	if (/^[{[]/.test(begin)) {
		try {
			const first = JSON.parse(line);
			return (Array.isArray(first) && typeof first[0] === 'object') ? 'application/json' : 'application/x-ndjson';
		} catch {
			// The JSON continues on the next line.
			return 'application/json';
		}
	}
	return (operations.includes(line.split(' ', 1)[0].toUpperCase()) && line.includes(' ')) ? 'text/plain' : 'text/csv';
}

/** Detects the format of a file from its beginning. */
export function detect({ text }, name, operations) {
	let type = typeOf(text, operations);
	let delimiter = delimiterOf(text);
	if (type === 'text/csv' && delimiter === '\t' && (/\.tsv?(\.gz)?$/i.test(name) || !text.includes('"'))) {
		type = 'text/tab-separated-values';
	}
	delimiter = (type === 'text/csv') ? delimiter : '\t';
	return { type, delimiter, header: isHeader(firstCells(text, { type, delimiter })) };
}

/** The columns of rows, or the members of the first objects. */
export function columnsOf(sample, format) {
	if (isRows(format.type)) {
		const cells = firstCells(sample.text, format);
		return format.header ? cells : cells.map((cell, i) => `column${i + 1}`);
	}
	const names = (object, prefix) => Object.entries(object).flatMap(([name, value]) =>
		(value !== null && typeof value === 'object' && !Array.isArray(value)) ? names(value, `${prefix}${name}.`) : [prefix + name]);
	return [...new Set(objectsOf(sample, format.type).filter((object) => !Array.isArray(object)).flatMap((object) => names(object, '')))].slice(0, MAX_COLUMNS);
}

/** The first JSON texts that can be parsed. */
export function objectsOf({ text }, type) {
	const texts = (type === 'application/json') ? jsonElements(text, MAX_ROWS) : (type === 'application/x-ndjson') ? text.split('\n', MAX_ROWS) : [];
	return texts.flatMap((element) => {
		try {
			return [JSON.parse(element)];
		} catch {
			return [];
		}
	});
}

/** A request body with the first records. */
export function firstRecords({ bytes, text, whole }, { type, header }, max) {
	if (type === 'application/x-redis-resp') return bytes.slice(0, respEnd(bytes, max));
	if (type === 'application/json') return `[${jsonElements(text, max).join(',\n')}]`;
	const rows = split(text, '\n', type === 'text/csv');
	return rows.slice(0, whole ? undefined : -1).slice(0, max + (isRows(type) && header ? 1 : 0)).map((row, i) => (i < rows.length - 1) ? row + '\n' : row).join('');
}

/** The header of a file, and the rows that begin at the given lines. */
export async function rowsAt(blob, { type, header, gzip }, lines) {
	const wanted = new Set(lines);
	const found = [];
	let head = '';
	let rest = '';
	let line = 1;
	const take = (row) => {
		if (isRows(type) && header && !head && row.trim()) {
			head = row + '\n';
		} else if (wanted.delete(line)) {
			found.push(row + '\n');
		}
		line += row.split('\n').length;
	};
	for await (const text of partsOf((gzip ? inflated(blob) : blob.stream()).pipeThrough(new TextDecoderStream()))) {
		const rows = split(rest + text, '\n', type === 'text/csv');
		rest = rows.pop();
		rows.forEach(take);
		if (wanted.size === 0) return head + found.join('');
	}
	take(rest);
	return head + found.join('');
}
