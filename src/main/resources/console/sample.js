// The beginning of a file: its format, and its first records.

const SAMPLE_BYTES = 256 * 1024;

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
	if (start[0] !== 0x1F || start[1] !== 0x8B) {
		return { bytes: start, whole: start.length === blob.size, gzip: false };
	}
	const parts = [];
	let size = 0;
	let whole = false;
	const reader = inflated(blob).getReader();
	try {
		while (size < SAMPLE_BYTES && !whole) {
			const { done, value } = await reader.read();
			whole = done;
			if (value) {
				parts.push(value);
				size += value.length;
			}
		}
	}
	catch {
		// The preview shows the inflated part. The service reports the error.
	}
	reader.cancel().catch(() => {});
	return { bytes: new Uint8Array(await new Blob(parts).arrayBuffer()), whole, gzip: true };
}

function inflated(blob) {
	return blob.stream().pipeThrough(new DecompressionStream('gzip'));
}

/** Splits text into rows, each with its line break. A quoted cell may contain line breaks. */
function rowsOf(text, quotes) {
	const rows = [];
	let from = 0;
	let quoted = false;
	for (let i = 0; i < text.length; i++) {
		const c = text.charCodeAt(i);
		if (c === 0x22 && quotes) {
			quoted = !quoted;
		}
		else if (c === 0x0A && !quoted) {
			rows.push(text.substring(from, i + 1));
			from = i + 1;
		}
	}
	return { rows, rest: text.substring(from) };
}

function cellsOf(row, delimiter, quotes = true) {
	const cells = [''];
	let quoted = false;
	row = row.replace(/\r?\n$/, '');
	for (let i = 0; i < row.length; i++) {
		const c = row[i];
		if (c === '"' && quotes) {
			if (quoted && row[i + 1] === '"') {
				cells[cells.length - 1] += '"';
				i++;
			}
			else {
				quoted = !quoted;
			}
		}
		else if (c === delimiter && !quoted) {
			cells.push('');
		}
		else {
			cells[cells.length - 1] += c;
		}
	}
	return cells;
}

/** The texts of the first elements of a JSON array, or of consecutive objects. */
function jsonElements(text, max) {
	const elements = [];
	const start = /^\s*\[/.exec(text)?.[0].length ?? 0;
	let depth = 0;
	let from = -1;
	let quoted = false;
	for (let i = start; i < text.length && elements.length < max; i++) {
		const c = text[i];
		if (quoted) {
			i += (c === '\\') ? 1 : 0;
			quoted = c !== '"';
		}
		else if (c === '"') {
			quoted = true;
		}
		else if (c === '{' || c === '[') {
			from = (depth++ === 0) ? i : from;
		}
		else if ((c === '}' || c === ']') && --depth === 0) {
			elements.push(text.substring(from, i + 1));
		}
		else if (depth < 0) {
			break;
		}
	}
	return elements;
}

/** The size of the first RESP commands, in bytes. */
function respEnd(bytes, max) {
	let end = 0;
	let at = 0;
	const header = () => {
		let text = '';
		while (at < bytes.length && bytes[at] !== 0x0A) {
			text += String.fromCharCode(bytes[at++]);
		}
		at++;
		return Number.parseInt(text.substring(1), 10);
	};
	for (let i = 0; i < max && at < bytes.length; i++) {
		const words = header();
		for (let word = 0; word < words && at < bytes.length; word++) {
			const length = header();
			at += length + 2;
		}
		if (!(at <= bytes.length)) {
			break;
		}
		end = at;
	}
	return end;
}

function delimiterOf(text) {
	const rows = rowsOf(text, true).rows.slice(0, 20).filter((row) => row.trim());
	const fields = (delimiter) => rows.map((row) => cellsOf(row, delimiter).length);
	let best = ',';
	let most = 0;
	for (const delimiter of [',', ';', '\t', '|']) {
		const counts = fields(delimiter);
		// One row in five may be malformed.
		const same = counts.filter((count) => count === counts[0]).length;
		if (counts[0] > 1 && same >= counts.length * 0.8 && same * counts[0] > most) {
			most = same * counts[0];
			best = delimiter;
		}
	}
	return best;
}

/** The names in a header are distinct, and are no numbers. */
function isHeader(cells) {
	return cells.every((cell) => cell.trim() && !/^[-+]?[\d.,:/-]+$/.test(cell.trim())) && new Set(cells).size === cells.length;
}

/** Detects the format of a file from its beginning. */
export function detect({ bytes }, name, operations) {
	const text = new TextDecoder().decode(bytes);
	const begin = text.trimStart();
	const line = begin.split(/\r?\n/, 1)[0];
	let type = 'text/csv';
	if (/^\*\d+\r\n\$/.test(text)) {
		type = 'application/x-redis-resp';
	}
	else if (/^[{[]/.test(begin)) {
		let isLine = false;
		try {
			const first = JSON.parse(line);
			isLine = !Array.isArray(first) || typeof first[0] !== 'object';
		}
		catch {
			// The JSON continues on the next line.
		}
		type = isLine ? 'application/x-ndjson' : 'application/json';
	}
	else if (operations.includes(line.split(' ', 1)[0].toUpperCase()) && line.includes(' ')) {
		type = 'text/plain';
	}
	let delimiter = delimiterOf(text);
	if (type === 'text/csv' && delimiter === '\t' && (/\.tsv?(\.gz)?$/i.test(name) || !text.includes('"'))) {
		type = 'text/tab-separated-values';
	}
	delimiter = (type === 'text/csv') ? delimiter : '\t';
	const first = rowsOf(text + '\n', type === 'text/csv').rows.find((row) => row.trim()) ?? '';
	return { type, delimiter, header: isHeader(cellsOf(first, delimiter, type === 'text/csv')) };
}

/** The columns of rows, or the members of the first objects. */
export function columnsOf({ bytes }, { type, delimiter, header }) {
	const text = new TextDecoder().decode(bytes);
	if (isRows(type)) {
		const first = rowsOf(text + '\n', type === 'text/csv').rows.find((row) => row.trim()) ?? '';
		const cells = cellsOf(first.replace(/^\uFEFF/, ''), delimiter, type === 'text/csv');
		return (header) ? cells : cells.map((cell, i) => `column${i + 1}`);
	}
	const names = new Set();
	const add = (object, prefix) => {
		for (const [name, value] of Object.entries(object)) {
			if (value !== null && typeof value === 'object' && !Array.isArray(value)) {
				add(value, `${prefix}${name}.`);
			}
			else {
				names.add(prefix + name);
			}
		}
	};
	for (const object of objectsOf(text, type)) {
		if (!Array.isArray(object)) {
			add(object, '');
		}
	}
	return [...names].slice(0, 200);
}

export function objectsOf(text, type) {
	const texts = (type === 'application/json') ? jsonElements(text, 20)
		: (type === 'application/x-ndjson') ? (text + '\n').split('\n').slice(0, 20) : [];
	return texts.flatMap((element) => {
		try {
			return [JSON.parse(element)];
		}
		catch {
			return [];
		}
	});
}

/** A request body with the first records. */
export function firstRecords({ bytes, whole }, { type, header }, max) {
	if (type === 'application/x-redis-resp') {
		return bytes.slice(0, respEnd(bytes, max));
	}
	const text = new TextDecoder().decode(bytes);
	if (type === 'application/json') {
		return `[${jsonElements(text, max).join(',\n')}]`;
	}
	const { rows, rest } = rowsOf(text, type === 'text/csv');
	if (whole && rest) {
		rows.push(rest);
	}
	return rows.slice(0, max + (isRows(type) && header ? 1 : 0)).join('');
}

/** The header of a file, and the rows that begin at the given lines. */
export async function rowsAt(blob, { type, header, gzip }, lines) {
	const wanted = new Set(lines);
	const reader = (gzip ? inflated(blob) : blob.stream()).pipeThrough(new TextDecoderStream()).getReader();
	const found = [];
	let head = '';
	let rest = '';
	let line = 1;
	for (let done = false; !done && wanted.size > 0;) {
		const chunk = await reader.read();
		done = chunk.done;
		const split = rowsOf(rest + (chunk.value ?? ''), type === 'text/csv');
		rest = split.rest;
		for (const row of (done && rest) ? [...split.rows, rest] : split.rows) {
			if (isRows(type) && header && !head && row.trim()) {
				head = row;
			}
			else if (wanted.delete(line)) {
				found.push(row.endsWith('\n') ? row : row + '\n');
			}
			line += row.split('\n').length - (row.endsWith('\n') ? 1 : 0);
		}
	}
	reader.cancel().catch(() => {});
	return head + found.join('');
}
