// What the page Load loads: a file or a source, its format, its mapping, and the parameters for them.

import { columnsOf, detect, isData, isRows, objectsOf } from './sample.js';

/** The formats of a URL, with their media types. */
export const URL_FORMATS = {
	csv: 'text/csv',
	tsv: 'text/tab-separated-values',
	ndjson: 'application/x-ndjson',
	json: 'application/json',
	text: 'text/plain',
	resp: 'application/x-redis-resp',
};

const FORMATS_OF_NAMES = { jsonl: 'ndjson', txt: 'text', aof: 'resp' };

/** The format of the rows that the service has read as JSON. */
const READ_ROWS = { type: 'application/x-ndjson' };

/** Settings of files that the rows of a query do not have. */
const NOT_FOR_QUERIES = new Set(['escape', 'null', 'trim', 'rows']);

export function quotedName(name) {
	return /[",]/.test(name) ? `"${name.replaceAll('"', '""')}"` : name;
}

/** The name of a source. It leaves out the query of a URL, which may be a signature. */
export function nameOf({ kind, url, source }) {
	return (kind === 'query') ? source : withoutQuery(url).split('/').filter((part) => part).at(-1) ?? '';
}

function withoutQuery(url = '') {
	return url.trim().split(/[?#]/, 1)[0];
}

/** The media type of a URL, if the user has chosen its format or its name says it. */
export function typeOf({ url, format }) {
	const end = /\.(\w+?)(\.(gz|zst))?$/i.exec(withoutQuery(url))?.[1].toLowerCase();
	return URL_FORMATS[format] ?? URL_FORMATS[end] ?? URL_FORMATS[FORMATS_OF_NAMES[end]];
}

/** The parameters that name a source. */
function parametersOf({ kind, url, format, source, values }, parameters) {
	if (kind === 'url') return [['from', 'url'], ['url', url.trim()], ...format ? [['format', format]] : []];
	return [['from', 'query'], ['source', source], ...parameters.map((name) => [`param.${name}`, values?.[name] ?? ''])];
}

export class Mapping {
	columns = [];

	/** The queries that the caller may use. */
	queries = [];

	/** @param state is kept when the user leaves the page */
	constructor(state, operations) {
		Object.assign(this, { state, operations });
	}

	get name() {
		return this.state.kind ? nameOf(this.state) : this.state.name;
	}

	/** Takes another file, or other text. */
	take(sample, blob, name, text) {
		const { state } = this;
		const isTyped = text !== undefined;
		this.sample = sample;
		Object.assign(state, { blob, name: (isTyped && state.isFix) ? state.name : name, text, gzip: sample.gzip, isFix: isTyped && state.isFix });
	}

	detect(name) {
		this.state.touched = false;
		Object.assign(this.state, detect(this.sample, name, this.operations));
		this.guess();
	}

	/** Finds the columns of the file, or of the rows that the service has read. */
	findColumns() {
		const { state, sample } = this;
		this.columns = (state.kind && isRows(state.type) && !state.header && state.names) ? state.names.split(',')
			: columnsOf(sample, state.kind ? READ_ROWS : state);
	}

	/** Guesses the mapping from the names of the columns. */
	guess() {
		this.findColumns();
		const { state, columns } = this;
		const has = (name) => columns.includes(name);
		const first = objectsOf(this.sample, state.kind ? READ_ROWS.type : state.type)[0];
		state.names = columns.join(',');
		Object.assign(state, { key: '', value: '', fields: '', args: '', ttl: '', expireAt: '', id: '', nulls: '' });
		if (state.kind === 'query' && columns.length === 0) {
			Object.assign(state, { op: 'HSET', templates: true });
		} else if (state.kind !== 'query' && this.hasRecords(first, has)) {
			state.op = (first && !Array.isArray(first) && !has('op') && isData(state.type)) ? (has('value') ? 'SET' : 'HSET') : '';
			state.templates = false;
		} else {
			this.guessTemplates(has);
		}
	}

	/** Whether the file has records. A record that the user is typing has no columns yet. The rows of a query are no records. */
	hasRecords(first, has) {
		return this.columns.length === 0 || !isData(this.state.type) || Array.isArray(first) || has('op')
			|| (first && has('key') && (has('value') || has('args') || Object.hasOwn(first, 'fields')));
	}

	guessTemplates(has) {
		const { state, columns } = this;
		const id = columns.find((name) => /^(key|id|sid|sku|uuid)$/i.test(name)) ?? columns.find((name) => /(_|^|[a-z])id$/i.test(name)) ?? columns[0];
		const stem = (state.name ?? '').split('.')[0].toLowerCase().replace(/[^a-z0-9]+/g, '-').replace(/s$/, '');
		const isKey = id.toLowerCase() === 'key';
		const expiry = columns.find((name) => /^expires?_?at$/i.test(name));
		const values = columns.filter((name) => name !== id && name !== expiry && name.toLowerCase() !== 'ttl');
		const prefix = isKey ? '' : (!/^[a-z]/.test(stem) || stem.startsWith('pasted')) ? 'record:' : `${stem}:`;
		state.templates = true;
		state.op = (values.length === 1) ? 'SET' : 'HSET';
		state.key = `${prefix}{${id}}`;
		state.value = (values.length === 1) ? `{${values[0]}}` : '{*}';
		state.fields = (isKey || has('ttl') || expiry) ? values.map(quotedName).join(',') : '';
		state.ttl = has('ttl') ? '{ttl}' : '';
		state.expireAt = (expiry && !state.ttl) ? `{${expiry}}` : '';
	}

	/** The parameters of the selected query. */
	queryParameters() {
		return this.queries.find(({ name }) => name === this.state.source)?.parameters ?? [];
	}

	/** The parameters that name the source, and say how its rows are read. */
	readParameters() {
		return [...this.state.kind ? parametersOf(this.state, this.queryParameters()) : [], ...this.rowParameters()];
	}

	rowParameters() {
		const { type, delimiter, header, names } = this.state;
		return [...(type === 'text/csv' && delimiter !== ',') ? [['delimiter', delimiter === '\t' ? 'tab' : delimiter]] : [],
			...(isRows(type) && !header && names) ? [['header', names]] : []];
	}

	templateParameters() {
		const { op, key, value, fields, args, id } = this.state;
		const rest = (op === 'SET') ? [['value', value]] : (op === 'HSET') ? [['fields', fields]] : args.split('\n').map((line) => ['args', line]);
		return [['key', key], ...rest, ['id', id]];
	}

	/** The parameters of the load, without those for a dry run. */
	parameters() {
		const { state } = this;
		const { op, ttl, expireAt, nulls, type } = state;
		const expires = this.mayExpire() && (ttl || expireAt || (isData(type) && !this.usesTemplates()));
		return [...state.kind ? parametersOf(state, this.queryParameters()) : [], ['op', op], ...this.rowParameters(), ...this.usesTemplates() ? this.templateParameters() : [],
			...this.mayExpire() ? [['ttl', ttl], ['expireAt', expireAt]] : [], ...isData(type) ? [['nulls', nulls]] : [],
			...Object.entries(state.settings).filter(([name]) => (name !== 'ttlJitter' || expires) && !this.isForeign(name))]
			.filter(([name, value]) => value || name.startsWith('param.'));
	}

	/** Whether a setting has no meaning for the records, so that the service would refuse it. */
	isForeign(name) {
		return this.state.kind === 'query' && NOT_FOR_QUERIES.has(name);
	}

	mayExpire() {
		return !this.state.op || this.state.op === 'SET' || this.state.op === 'HSET';
	}

	usesTemplates() {
		return this.state.templates && Boolean(this.state.op) && isData(this.state.type);
	}

	headers() {
		return this.state.kind ? {} : { 'Content-Type': this.state.type, ...this.state.gzip ? { 'Content-Encoding': 'gzip' } : {} };
	}
}
