// The analyses of this tab: their parameters, what followed them, and the links to them.

import { curl } from './curl.js';
import { h, pathOf } from './page.js';
import { bytesOf, displayName, truncate } from './prefixes.js';
import { ASYNC, json } from './service.js';
import { sources } from './tab.js';

/** The most characters of a name that a page shows. */
export const MAX_CHARACTERS = 300;

/** The most characters of a name in a title or a link. */
export const MAX_TITLE = 60;

const REQUESTS_KEY = 'pipeset.analyses';
const MAX_REQUESTS = 100;

/** The parameters of the analyses of this tab, because reports omit them, and the prefix from which each was started. */
const requests = new Map(JSON.parse(sessionStorage.getItem(REQUESTS_KEY) ?? '[]'));

/** The values of the form for the next analysis. */
export const form = { values: {} };

/** The sweeps that this tab started after an analysis, by the ID of the analysis. */
const sweeps = new Map();

/** The parameters of an analysis, and the prefix from which it was started, if this tab started it. */
export function requestOf(id) {
	return requests.get(id) ?? {};
}

export function sweepsAfter(id) {
	return sweeps.get(id) ?? [];
}

export function addSweep(id, job) {
	sweeps.set(id, [...sweepsAfter(id), job]);
	sources.set(job.jobId, { name: truncate(displayName(bytesOf(job.match)), MAX_TITLE), from: hrefOf(id) });
}

/** The link to an analysis, or to one of its prefixes. */
export function hrefOf(id, name = '') {
	return `#/keyspace/${id}${name && `?at=${name.replace(/[^\w.-]/g, (byte) => `%${byte.charCodeAt(0).toString(16).padStart(2, '0')}`)}`}`;
}

export function prefixIn(hash) {
	return (/\?at=(.*)$/.exec(hash)?.[1] ?? '').replace(/%([0-9a-f]{2})/gi, (escape, code) => String.fromCharCode(Number.parseInt(code, 16)));
}

/** How an analysis groups keys by prefix. The depth is unknown if the analysis was started elsewhere. */
export function groupingOf(parameters) {
	return { match: parameters?.match, separator: bytesOf(parameters?.separator || ':'), depth: parameters && Number(parameters.depth || 1) };
}

export function lineOf(parameters) {
	return curl(requestPath(parameters), { method: 'POST' });
}

function requestPath(parameters) {
	return pathOf('v1/analyses', Object.entries(parameters));
}

/** Starts an analysis, and opens its page if the user is still on this one. */
export async function start(page, parameters, parent) {
	const { jobId } = await json('POST', requestPath(parameters), ASYNC);
	requests.set(jobId, { parameters, up: parent });
	sessionStorage.setItem(REQUESTS_KEY, JSON.stringify([...requests].slice(-MAX_REQUESTS)));
	if (!page.aborted) {
		location.hash = hrefOf(jobId);
	}
}

export function pattern(match) {
	return h('code', { class: 'name' }, truncate(displayName(bytesOf(match)), MAX_CHARACTERS));
}

export function keysOf({ match, type }) {
	return [type ? `${type} keys` : match ? 'Keys' : 'All keys', match ? [' like ', pattern(match)] : ''].flat();
}
