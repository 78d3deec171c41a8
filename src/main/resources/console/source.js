// Records that the service fetches itself, from a URL or a query: what it offers, and the first records.

import { query } from './page.js';
import { call, json } from './service.js';

/** The label of previews. All tabs leave them out of the list of jobs. */
export const PREVIEW_LABEL = 'Preview in the console';

const POLL_MILLIS = 100;

/** After this time, a source that is slow shows the records that there are. */
const ENOUGH_MILLIS = 5000;

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
 * Has the service read the first records of a source in a dry run. A dry run has no bound, and would read the whole
 * table or file. So it is asynchronous, and is cancelled when the first records are there, which also cancels its query
 * in the database. Until then it has read what came between two polls, and nothing was written.
 * @returns the report, whose items are the first records or more
 */
export async function readFirst(parameters, max, signal) {
	// The request has no signal, because it may have begun a job even if it is given up.
	const { jobId } = await json('POST', `v1/jobs?${query([...parameters, ['dryRun', 'true'], ['results', 'all'], ['label', PREVIEW_LABEL]])}`,
			{ headers: { Prefer: 'respond-async' } });
	const path = `v1/jobs/${jobId}`;
	// A job that has ended meanwhile cannot be cancelled, and need not be.
	const cancel = (options) => call('DELETE', path, options).catch(() => {});
	const leave = () => cancel({ keepalive: true });
	const enoughAt = performance.now() + ENOUGH_MILLIS;
	let cancelled = false;
	let isEnough = false;
	addEventListener('pagehide', leave);
	try {
		for (;;) {
			signal.throwIfAborted();
			const report = await json('GET', path, { signal });
			if (report.state !== 'queued' && report.state !== 'running') {
				cancelled = true;
				return report;
			}
			const received = report.counts?.received ?? 0;
			if (isEnough && !cancelled) {
				cancelled = true;
				await cancel();
			}
			// A short source ends by itself before the next poll.
			isEnough = received > 0 && (received >= max || performance.now() > enoughAt);
			await new Promise((resolve) => setTimeout(resolve, POLL_MILLIS));
		}
	}
	finally {
		removeEventListener('pagehide', leave);
		if (!cancelled) {
			cancel();
		}
	}
}
