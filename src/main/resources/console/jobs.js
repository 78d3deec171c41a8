// Jobs: all that there are, live.

import { STATES, badge, isActive, titleOf } from './job.js';
import { previews } from './load.js';
import { curl, duration, h, moment, notice, number, percent, shell } from './page.js';
import { Problem, address, call, isKeyed, json } from './service.js';

const LIMIT = 100;

const LOOK_MILLIS = 1000;

/** Where nothing runs, nothing changes but by somebody else. */
const IDLE_MILLIS = 3000;

export async function jobs(main, page) {
	let state = '';
	let after = [];
	let timer;
	const mistaken = notice();
	const select = h('select', { id: 'state', onchange: () => {
		state = select.value;
		after = [];
		look();
	} }, h('option', { value: '' }, 'any'), Object.keys(STATES).map((name) => h('option', { value: name }, STATES[name])));
	const body = h('tbody');
	const table = h('table', { class: 'jobs' }, h('thead', {}, h('tr', {}, ['Job', 'State', 'Asked for', 'Took', 'Records', 'Did not run', 'Progress', ''].map((title, i) => h('th', { scope: 'col', class: i >= 3 && i <= 5 ? 'number' : '' }, title || h('span', { class: 'unseen' }, 'Cancel'))))), body);
	const list = h('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'Jobs', hidden: true }, table);
	const none = h('div', { class: 'empty', hidden: true });
	const newer = h('button', { type: 'button', hidden: true, onclick: () => {
		after.pop();
		look();
	} }, 'Newer');
	const older = h('button', { type: 'button', hidden: true }, 'Older');
	const line = shell('');
	main.append(h('h1', {}, 'Jobs'), h('p', { class: 'actions' }, h('label', { for: 'state' }, 'State'), select), mistaken, none, list, h('p', { class: 'actions' }, newer, older),
			h('details', { class: 'lines' }, h('summary', {}, 'The same with curl'), line));

	function row(status) {
		const { counts, jobId } = status;
		const now = status.progress;
		const active = isActive(status.state);
		// Only a dry run completes with records that did not run.
		const dry = status.state === 'completed' && counts?.unprocessed > 0;
		const failed = counts ? (active || dry ? counts.rejected : counts.rejected + counts.unknown + counts.unprocessed) : 0;
		return h('tr', { 'data-job': jobId }, h('td', {}, h('a', { href: `#/jobs/${jobId}` }, titleOf(status))), h('td', {}, badge(status.state), dry ? h('span', { class: 'badge' }, 'dry run') : ''), h('td', {}, moment(status.createdMillis)),
				h('td', { class: 'number' }, duration(status.endedMillis ? status.endedMillis - status.createdMillis : now.elapsedMillis)),
				h('td', { class: 'number' }, counts ? number(counts.received) : number(now.done)), h('td', { class: `number ${failed ? 'failed' : ''}` }, counts ? number(failed) : ''),
				h('td', {}, active ? [h('progress', { max: 1, ...(now.share === undefined ? {} : { value: now.share }), 'aria-label': 'The share that is done' }),
					h('small', {}, [now.share === undefined ? null : percent(now.share), now.leftMillis === undefined ? null : `${duration(now.leftMillis)} left`].filter((word) => word).join(', '))] : ''),
				h('td', {}, active ? h('button', { type: 'button', class: 'quiet', 'aria-label': `Cancel ${titleOf(status)}`, onclick: () => cancel(jobId) }, 'Cancel') : ''));
	}

	/** Changes what has changed, so that nobody's focus or click is lost. */
	function draw(rows) {
		const known = new Map([...body.rows].map((row) => [row.dataset.job, row]));
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
			if (body.rows[i] !== now) {
				body.insertBefore(now, body.rows[i] ?? null);
			}
		});
		known.forEach((row) => row.remove());
	}

	async function cancel(id) {
		try {
			await call('DELETE', `v1/jobs/${id}`);
			mistaken.say();
		}
		catch (error) {
			if (!(error instanceof Problem)) {
				throw error;
			}
			mistaken.say(error.message);
		}
		look();
	}

	let shown = '';

	async function look() {
		clearTimeout(timer);
		const query = [state && `state=${state}`, `limit=${LIMIT}`, after.length && `after=${after[after.length - 1]}`].filter((word) => word).join('&');
		line.say(curl({ method: 'GET', url: address(`v1/jobs?${query}`), keyed: isKeyed() }));
		let pause = IDLE_MILLIS;
		try {
			const found = await json('GET', `v1/jobs?${query}`, { signal: page });
			// What this tab has only tried is no job of anybody.
			const some = found.jobs.filter(({ jobId }) => !previews.has(jobId));
			pause = some.some((status) => isActive(status.state)) ? LOOK_MILLIS : IDLE_MILLIS;
			const now = JSON.stringify(some);
			if (now !== shown) {
				shown = now;
				draw(some.map(row));
			}
			list.hidden = some.length === 0;
			none.hidden = some.length > 0;
			none.replaceChildren(...(state || after.length ? [h('p', {}, state ? `No job ${STATES[state]}.` : 'There are no older jobs.')]
				: [h('p', {}, h('strong', {}, 'There are no jobs yet.')), h('p', {}, 'A job is a load, a pop, a sweep, an analysis or a tuning. ', h('a', { href: '#/load' }, 'Load a file'), ', and it stands here.')]));
			newer.hidden = after.length === 0;
			older.hidden = !found.next;
			older.onclick = () => {
				after.push(found.next);
				look();
			};
			for (const warning of found.warnings ?? []) {
				mistaken.say(warning.detail);
			}
		}
		catch (error) {
			if (page.aborted) {
				return;
			}
			if (!(error instanceof Problem)) {
				throw error;
			}
			mistaken.say(error.message);
		}
		if (!page.aborted) {
			timer = setTimeout(() => document.hidden ? wait() : look(), pause);
		}
	}

	/** Nobody looks at a tab that is hidden. */
	function wait() {
		document.addEventListener('visibilitychange', () => look(), { once: true, signal: page });
	}

	page.addEventListener('abort', () => clearTimeout(timer));
	await look();
}
