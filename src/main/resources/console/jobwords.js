// Jobs in words: their titles and states.

import { h } from './page.js';
import { sources } from './tab.js';

export const STATES = ['queued', 'running', 'completed', 'stopped', 'failed', 'cancelled', 'interrupted'];

export function isActive(state) {
	return state === 'queued' || state === 'running';
}

/** The title of a job: its operation, and its file if this tab uploaded it. */
export function titleOf(status) {
	const what = { analysis: 'Analysis', tuning: 'Tuning' }[status.kind] ?? `${(status.op ?? 'records').replace('mixed', 'Mixed')} job`;
	const name = status.label ?? sources.get(status.jobId)?.name;
	return name ? `${what}: ${name}` : what;
}

export function nounOf({ kind }) {
	return { analysis: 'key', tuning: 'run' }[kind] ?? 'record';
}

/** How many records failed: of those that are only compared, how many are not in Redis as they should be. */
export function failedOf({ counts, dryRun, verified }, active) {
	if (!counts) return 0;
	if (verified) return counts.rejected + verified.different + verified.missing;
	return counts.rejected + (active || dryRun ? 0 : counts.unknown + counts.unprocessed);
}

/** The state of a job. A job that completed with rejected records has a state of its own. */
export function badge({ state, counts }) {
	const isFlawed = state === 'completed' && counts?.rejected > 0;
	return h('span', { class: `badge ${isFlawed ? 'flawed' : state}` }, isFlawed ? 'completed, with rejected records' : state);
}
