// Records that the service fetches itself, from a URL or a query: what it offers, and the first records.

import { query } from './page.js';
import { json } from './service.js';

/** The label of previews. All tabs leave them out of the list of jobs. */
export const PREVIEW_LABEL = 'Preview in the console';

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

let offered;

/** The URLs and queries that the caller may use. */
export async function fetchSources(signal) {
	offered ??= await json('GET', 'v1/sources', { signal });
	return offered;
}

/** The name of a source. It leaves out the query of a URL, which may be a signature. */
export function nameOf({ kind, url, source }) {
	return (kind === 'query') ? source : pathOf(url).split('/').filter((part) => part).at(-1) ?? '';
}

function pathOf(url = '') {
	return url.trim().split(/[?#]/, 1)[0];
}

/** The media type of a URL, if the user has chosen its format or its name says it. */
export function typeOf({ url, format }) {
	const end = /\.(\w+?)(\.(gz|zst))?$/i.exec(pathOf(url))?.[1].toLowerCase();
	return URL_FORMATS[format] ?? URL_FORMATS[end] ?? URL_FORMATS[FORMATS_OF_NAMES[end]];
}

/** The parameters that name a source. */
export function parametersOf({ kind, url, format, source, values }, parameters) {
	if (kind === 'url') {
		return [['from', 'url'], ['url', url.trim()], ...format ? [['format', format]] : []];
	}
	return [['from', 'query'], ['source', source], ...parameters.map((name) => [`param.${name}`, values?.[name] ?? ''])];
}

/**
 * Has the service read the first records of a source in a dry run. It ends, and its query with it, when this page leaves.
 * @returns the report, whose items are the first records
 */
export function readFirst(parameters, max, signal) {
	return json('POST', `v1/jobs?${query([...parameters, ['dryRun', 'true'], ['results', 'all'], ['limit', max], ['label', PREVIEW_LABEL]])}`, { signal });
}
