// A table of jobs, which pages poll.

import { badge, failedOf, isActive, nounOf, titleOf } from './jobwords.js';
import { attempt, count, duration, h, number, percent, query, timestamp } from './page.js';
import { call, json } from './service.js';

const POLL_MILLIS = 1000;

/** If no job is active, only other clients change the list. */
const IDLE_POLL_MILLIS = 3000;

export function pollDelay(jobs) {
	return jobs.some(({ state }) => isActive(state)) ? POLL_MILLIS : IDLE_POLL_MILLIS;
}

/** The most requests for one list. An instance knows a thousand ended jobs, of which a page may show none. */
const MAX_REQUESTS = 10;

/**
 * Fetches the wanted jobs, about as many as the limit allows.
 * @param parameters names and values, including the limit
 */
export async function fetchJobs(parameters, signal, isWanted = () => true) {
	const request = new Map(parameters);
	const limit = request.get('limit');
	const jobs = [];
	let found;
	let short = false;
	for (let i = 0; i < MAX_REQUESTS && (!found || found.next && (short || jobs.length === 0)); i++) {
		request.set('limit', limit - jobs.length);
		found = await json('GET', `v1/jobs?${query([...request])}`, { signal });
		// The service checks only a part of the jobs at once, and skips those of other clients.
		short = found.jobs.length < request.get('limit');
		jobs.push(...found.jobs.filter(isWanted));
		request.set('after', found.next);
	}
	return { ...found, jobs };
}

/** A table of jobs. It redraws changed cells only, because a full redraw would lose the focus or a click. */
export class JobTable {
	/**
	 * @param errorNotice shows why a job could not be cancelled
	 * @param onCancel is called after a request to cancel
	 */
	constructor(errorNotice, onCancel) {
		Object.assign(this, { errorNotice, onCancel });
		this.body = h('tbody');
		this.element = h('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'Jobs', hidden: true }, h('table', { class: 'jobs' }, h('thead', {}, h('tr', {},
				['Job', 'State', 'Created', 'Duration', 'Records', 'Did not run', 'Progress', ''].map((title, i) => h('th', { scope: 'col', class: i >= 3 && i <= 5 ? 'number' : '' }, title || h('span', { class: 'unseen' }, 'Cancel'))))), this.body));
	}

	show(jobs) {
		const now = JSON.stringify(jobs);
		if (now !== this.shown) {
			this.shown = now;
			this.draw(jobs.map((status) => this.row(status)));
		}
		this.element.hidden = jobs.length === 0;
	}

	row(status) {
		const { counts, jobId, dryRun, verified, progress, createdMillis, endedMillis } = status;
		const active = isActive(status.state);
		const failed = failedOf(status, active);
		const cell = (kind, ...content) => h('td', { class: kind }, ...content);
		return h('tr', { 'data-job': jobId }, cell('', h('a', { href: `#/jobs/${jobId}` }, titleOf(status))), cell('', badge(status), (dryRun || verified) ? h('span', { class: 'badge' }, dryRun ? 'dry run' : 'comparison') : ''),
				cell('', timestamp(createdMillis)), cell('number', duration(endedMillis ? endedMillis - createdMillis : progress.elapsedMillis)),
				cell('number', counts ? number(counts.received) : count(progress.done, nounOf(status))), cell(`number ${failed ? 'failed' : ''}`, counts ? number(failed) : ''),
				cell('', active ? progressCell(progress) : ''),
				cell('', active ? h('button', { type: 'button', class: 'quiet', 'aria-label': `Cancel ${titleOf(status)}`, onclick: () => this.cancel(jobId) }, 'Cancel') : ''));
	}

	draw(rows) {
		const known = new Map([...this.body.rows].map((row) => [row.dataset.job, row]));
		rows.forEach((row, i) => {
			const before = known.get(row.dataset.job);
			if (before) {
				[...row.cells].forEach((cell, at) => {
					if (cell.outerHTML !== before.cells[at].outerHTML) {
						before.cells[at].replaceWith(cell);
					}
				});
			}
			const now = before ?? row;
			known.delete(row.dataset.job);
			if (this.body.rows[i] !== now) {
				this.body.insertBefore(now, this.body.rows[i] ?? null);
			}
		});
		known.forEach((row) => row.remove());
	}

	async cancel(id) {
		await attempt(this.errorNotice, {}, () => call('DELETE', `v1/jobs/${id}`));
		this.onCancel();
	}
}

function progressCell({ share, leftMillis }) {
	return [h('progress', { max: 1, ...(share === undefined ? {} : { value: share }), 'aria-label': 'Progress' }),
		h('small', {}, [share === undefined ? null : percent(share), leftMillis === undefined ? null : `${duration(leftMillis)} left`].filter((word) => word).join(', '))];
}
