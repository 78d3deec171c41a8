// The page of a job: its progress while it is active, and its report when it has ended.

import { Chart, OUTCOMES } from './chart.js';
import { labelOf } from './labels.js';
import { fixRows, settingsOfRecords, sources } from './tab.js';
import { curl, shell } from './curl.js';
import { announce, bytes, count, duration, h, notice, number, percent, query, timestamp } from './page.js';
import { bytesOf, displayName } from './prefixes.js';
import { VirtualTable } from './rows.js';
import { tuningReport } from './heat.js';
import { rowsAt } from './sample.js';
import { Problem, call, follow, json, textsOf, upload } from './service.js';

/** The most failures that a page shows. The download has all of them. */
const MAX_FAILURES = 10_000;

const MAX_FIXED_ROWS = 1000;

/** The characters at the end of a reason that a row always shows. */
const END_CHARACTERS = 16;

const MEANINGS = {
	applied: 'Redis ran it',
	noop: 'Redis ran it, but there was nothing to do',
	rejected: 'refused, so data did not change',
	unknown: 'it may have run',
	unprocessed: 'it did not run',
};

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

/** The state of a job. A job that completed with rejected records has a state of its own. */
export function badge({ state, counts }) {
	const isFlawed = state === 'completed' && counts?.rejected > 0;
	return h('span', { class: `badge ${isFlawed ? 'flawed' : state}` }, isFlawed ? 'completed, with rejected records' : state);
}

/** A reason that always shows its end, because the wrong value is there. */
function reason(text) {
	const end = text.lastIndexOf(' ', text.length - END_CHARACTERS);
	return h('span', { class: 'reason', title: text }, h('span', {}, text.substring(0, end)), h('span', {}, text.substring(end)));
}

/** The readable key of a record. The key of a malformed record may be of any JSON type. */
function keyOf(key) {
	return displayName(bytesOf(typeof key === 'object' ? JSON.stringify(key) : String(key ?? '')));
}

export async function job(main, page, id) {
	const path = `v1/jobs/${id}`;
	const title = h('h1', {}, 'Job');
	const state = h('span', {});
	const about = h('p', { class: 'hint' });
	const ending = notice();
	ending.removeAttribute('role');
	const errorNotice = notice();
	const bar = h('progress', { max: 1, 'aria-label': 'Progress' });
	const words = h('p', { class: 'words' });
	const progress = h('div', { class: 'following' }, bar, words);
	const chart = new Chart();
	const tiles = h('dl', { class: 'tiles' });
	const controls = h('section', { 'aria-labelledby': 'controls-title', hidden: true });
	const result = h('div');
	main.append(h('div', { class: 'title' }, title, state), about, ending, errorNotice, progress, tiles, chart.element, controls, result);

	let last;
	let report;
	let reportRequest;

	async function attempt(action, onProblem = () => {}) {
		errorNotice.setText();
		try {
			return await action();
		}
		catch (error) {
			if (page.aborted) {
				return undefined;
			}
			if (!(error instanceof Problem)) {
				throw error;
			}
			errorNotice.setText(error.message);
			onProblem(error);
			return undefined;
		}
	}

	function tile(name, value, kind, meaning) {
		return h('div', { class: `tile ${kind ?? ''}`, title: meaning }, h('dt', {}, name), h('dd', {}, value));
	}

	function draw() {
		const { counts, kind } = last;
		const now = last.progress;
		title.textContent = titleOf(last);
		document.title = `${isActive(last.state) && now.share !== undefined ? `${percent(now.share)} ` : ''}${titleOf(last)} · Pipeset`;
		state.replaceChildren(badge(last), ...(last.dryRun ? [h('span', { class: 'badge' }, 'dry run')] : []));
		about.replaceChildren(`created ${timestamp(last.createdMillis)}${last.endedMillis ? `, took ${duration(last.endedMillis - last.createdMillis)}` : ''} `, h('code', {}, id));
		ending.setText(last.ending?.detail);
		progress.hidden = !isActive(last.state);
		if (now.share !== undefined) {
			bar.value = now.share;
		}
		else {
			bar.removeAttribute('value');
		}
		const noun = nounOf(last);
		words.textContent = (last.state === 'queued') ? 'It waits in the queue.' : (kind === 'tuning' && !now.total) ? 'It opens connections and warms up.' : [now.share === undefined ? null : percent(now.share),
			now.total ? `${number(now.done)} of ${count(now.total, noun)}` : count(now.done, noun), kind === 'tuning' ? null : `${number(now.perSecond)}/s`,
			now.leftMillis === undefined ? null : `${duration(now.leftMillis)} left`].filter((word) => word).join(' · ');
		const active = isActive(last.state);
		const batches = report?.timings?.batches;
		const rate = active ? now.perSecond : report?.recordsPerSecond || now.averagePerSecond;
		tiles.replaceChildren(...(counts ? OUTCOMES.filter((name) => name !== 'rejected').concat('rejected').filter((name) => counts[name] || name === (last.dryRun ? 'unprocessed' : 'applied') || name === 'rejected')
			.map((name) => tile(name === 'unknown' && active ? 'in flight' : name === 'unprocessed' && last.dryRun ? 'would run' : name, number(counts[name]), `outcome ${name}${counts[name] ? '' : ' none'}`, name === 'unknown' && active ? 'sent, but not answered yet' : MEANINGS[name])) : []),
				// The run time of an interrupted job is unknown.
				...(kind === 'tuning' || last.state === 'interrupted' ? [] : [tile(active ? 'rate' : 'average rate', `${number(rate)}/s`, '', `${noun}s per second`)]),
				...(batches?.count ? [tile('batch p50', duration(batches.p50Millis), '', 'half of the batches took no longer'), tile('batch p99', duration(batches.p99Millis), '', '99 of 100 batches took no longer')] : []));
		if (counts && !last.dryRun) {
			chart.add(now.elapsedMillis, counts, active);
		}
	}

	let drawn;

	/** The input for the rate limit of an active job. */
	let rateInput;

	/** Draws the buttons for a state. It redraws them only if the state changes, because a redraw would lose typed text. */
	function drawControls() {
		const now = isActive(last.state) ? 'active' : last.state;
		if (now === 'active' && rateInput && report && !rateInput.dataset.used) {
			rateInput.value = report.settings?.rateLimit ?? '';
		}
		if (drawn === now) {
			return;
		}
		drawn = now;
		if (now === 'active') {
			rateInput = h('input', { type: 'number', id: 'rate', min: 1, max: 1_000_000_000, step: 1, placeholder: 'no limit', value: report?.settings?.rateLimit ?? '' });
			const rateLine = shell(curl(`${path}?rateLimit=5000`, { method: 'PATCH' }));
			const limit = () => rateInput.value || 'none';
			rateInput.addEventListener('input', () => rateLine.setText(curl(`${path}?rateLimit=${limit()}`, { method: 'PATCH' })));
			rateInput.addEventListener('focus', () => rateInput.dataset.used = 'yes');
			const change = (event) => {
				event.preventDefault();
				if (rateInput.reportValidity()) {
					attempt(async () => {
						await call('PATCH', `${path}?rateLimit=${limit()}`);
						announce(rateInput.value ? `The rate limit is now ${number(Number(rateInput.value))} per second` : 'The rate limit is removed');
					});
				}
			};
			controls.replaceChildren(h('h2', { id: 'controls-title', class: 'unseen' }, 'Actions'),
					h('form', { class: 'actions', onsubmit: change },
							h('button', { type: 'button', id: 'cancel', onclick: () => attempt(() => call('DELETE', path)) }, 'Cancel the job'),
							...(last.kind === 'tuning' ? [] : [h('label', { for: 'rate' }, 'Records per second'), rateInput, h('button', { id: 'change' }, 'Change the rate limit')])),
					h('details', { class: 'lines' }, h('summary', {}, 'The same with curl'),
							h('p', {}, 'Follow'), shell(curl(`${path}/events`, { headers: { Accept: 'text/plain' } }).replace('-sS', '-sSN')),
							h('p', {}, 'Cancel'), shell(curl(path, { method: 'DELETE' })),
							...(last.kind === 'tuning' ? [] : [h('p', {}, 'Change the rate limit'), rateLine])));
			controls.hidden = false;
		}
		else if (now === 'interrupted') {
			if (last.kind !== 'records') {
				controls.hidden = true;
				return;
			}
			controls.replaceChildren(h('h2', { id: 'controls-title' }, 'The service process ended'),
					h('p', {}, 'The service stopped while this job was running. The job can resume there if its records may be repeated.'),
					h('p', { class: 'actions' }, h('button', { type: 'button', class: 'main', id: 'resume', onclick: () => attempt(async () => {
						await call('POST', `${path}/resume`);
						chart.clear();
						run();
					}) }, 'Resume'), h('button', { type: 'button', onclick: () => attempt(async () => {
						await call('DELETE', path);
						run();
					}) }, 'Cancel the job')),
					h('details', { class: 'lines' }, h('summary', {}, 'The same with curl'), shell(curl(`${path}/resume`, { method: 'POST' }))));
			controls.hidden = false;
		}
		else {
			controls.hidden = true;
		}
	}

	async function refreshReport() {
		if (reportRequest) {
			return;
		}
		const request = reportRequest = {};
		try {
			const found = await json('GET', path, { signal: page });
			// If the job has ended meanwhile, a later request has its last report.
			if (request === reportRequest) {
				report = found;
			}
		}
		catch {
			// The events show the problem.
		}
		if (request === reportRequest) {
			reportRequest = undefined;
		}
	}

	async function run() {
		// On a new page, performance.now() is less than 1000.
		let refreshedAt = -Infinity;
		result.replaceChildren();
		const ended = await attempt(async () => {
			for await (const status of follow(id, page)) {
				const before = last?.state;
				last = status;
				if (isActive(status.state) && performance.now() - refreshedAt > 1000) {
					refreshedAt = performance.now();
					refreshReport();
				}
				draw();
				drawControls();
				if (before && before !== status.state) {
					announce(`The job is ${status.state}`);
				}
			}
			return true;
		}, (problem) => problem.status === 404 && drawUnknown());
		if (!ended || !last || page.aborted) {
			return;
		}
		reportRequest = undefined;
		report = undefined;
		await refreshReport();
		draw();
		drawControls();
		drawResult();
		announce(`The job is ${last.state}. ${last.counts ? OUTCOMES.filter((name) => last.counts[name]).map((name) => `${number(last.counts[name])} ${name}`).join(', ') : ''}`);
	}

	/** Hides what the page showed last, because the service no longer knows the job. */
	function drawUnknown() {
		[progress, tiles, chart.element, controls].forEach((part) => part.hidden = true);
		state.replaceChildren(...(last ? [h('span', { class: 'badge failed' }, 'no longer known')] : []));
		document.title = 'Job · Pipeset';
	}

	function drawResult() {
		if (!report) {
			result.replaceChildren(h('p', { class: 'hint' }, 'The report is no longer available.'));
			return;
		}
		const rejected = last.dryRun;
		const failures = (report.counts && report.errors) ? (rejected ? report.counts.rejected : report.counts.rejected + report.counts.unknown + report.counts.unprocessed) : 0;
		const warnings = (report.warnings ?? []).map((warning) => h('p', { class: 'warning' }, h('strong', {}, warning.code), ` ${warning.detail}`));
		result.replaceChildren(...warnings);
		if (report.counts && !failures && last.state === 'completed') {
			result.append(h('p', { class: 'good' }, rejected ? `All ${count(report.wouldRun ?? 0, 'record')} would run.`
				: (report.counts.received === 0) ? 'It had no records.' : (report.counts.received === 1) ? 'Its one record ran.' : `All ${count(report.counts.received, 'record')} ran.`));
		}
		if (failures) {
			drawFailures(failures, rejected);
		}
		const source = sources.get(id);
		if (rejected && source) {
			result.append(h('p', { class: 'actions' }, h('a', { class: 'button main', href: '#/load' }, 'Back to the load'),
					h('span', { class: 'hint' }, failures ? `Nothing was written. Fix the ${source.kind ? 'source' : 'file'}, or load it as it is and fix these rows afterwards.` : 'Nothing was written.')));
		}
		if (source?.from) {
			result.append(h('p', { class: 'actions' }, h('a', { class: 'button', href: source.from }, 'Back to the keyspace')));
		}
		if (last.kind === 'analysis' && report.prefixes) {
			result.append(h('p', { class: 'actions' }, h('a', { class: 'button', href: `#/keyspace/${id}` }, 'Prefixes, types and largest keys')));
		}
		if (report.counts) {
			drawReport();
		}
		if (report.rows) {
			result.append(tuningReport(report));
		}
		result.append(h('details', {}, h('summary', {}, 'The report as JSON'), shell(curl(path)),
				h('pre', { class: 'scroll', tabindex: 0 }, JSON.stringify({ ...report, items: report.items?.slice(0, 20) }, null, 2))));
	}

	function drawReport() {
		const { timings, settings } = report;
		const fact = (name, value, title) => h('div', { title }, h('dt', {}, name), h('dd', {}, value));
		result.append(h('section', { 'aria-labelledby': 'report-title' }, h('h2', { id: 'report-title' }, 'Report'), h('dl', { class: 'facts' },
				fact('records', number(report.counts.received)), fact('commands sent', number(report.commandsSent)), fact('bytes sent', bytes(report.bytesSent)), fact('sent to', report.redis),
				fact('total time', duration(timings.totalMillis)), fact('wait time', duration(timings.waitMillis)), fact('read time', duration(timings.readMillis)),
				fact('Redis time', duration(timings.redisMillis)), fact('batches', number(timings.batches.count)), fact('longest batch', duration(timings.batches.maxMillis))),
				h('h3', {}, 'Settings in effect'), h('dl', { class: 'facts' }, ...Object.entries(settings).filter(([, value]) => value !== false).map(([name, value]) => fact(labelOf(name), Array.isArray(value) ? value.join('  ') : String(value), name)))));
	}

	/** The failures in words. Records with the outcome unknown may have run. */
	function failureSummary(failures, isDry) {
		const unknown = isDry ? 0 : report.counts.unknown;
		const notRun = failures - unknown;
		return [notRun ? `${count(notRun, 'record')} ${isDry ? 'would' : 'did'} not run` : null,
			unknown ? `${notRun ? `${number(unknown)} more` : count(unknown, 'record')} may have run` : null].filter((words) => words).join(', ');
	}

	function drawFailures(failures, isDry) {
		const statuses = isDry ? 'rejected' : 'rejected,unprocessed';
		const itemsPath = `${path}/items?status=${statuses}`;
		const repeatPath = `v1/jobs?${query(settingsOfRecords())}`.replace(/\?$/, '');
		let all = [];
		let chosenCode = '';
		const rows = new VirtualTable('The records that did not run', [
			{ title: 'Line', kind: 'number', cell: (row) => String(row.line ?? row.index ?? '') },
			{ title: 'Outcome', kind: 'narrow', cell: (row) => row.status },
			{ title: 'Code', kind: 'narrow', cell: (row) => h('strong', {}, row.code) },
			{ title: 'Key', kind: 'narrow', cell: (row) => h('code', {}, row.key) },
			{ title: 'Reason', kind: 'wide', cell: (row) => reason(row.message) },
		]);
		const shownWords = h('p', { class: 'hint' });
		const codes = h('div', { class: 'chips', role: 'group', 'aria-label': 'Error codes' });
		const drawCodes = () => codes.replaceChildren(...Object.entries(report.errorCodes ?? {}).map(([code, records]) => h('button', { type: 'button', class: 'chip', 'aria-pressed': String(chosenCode === code), onclick: () => {
			chosenCode = (chosenCode === code) ? '' : code;
			drawCodes();
			show();
		} }, `${code} `, h('b', {}, number(records)))));
		const show = () => {
			const some = chosenCode ? all.filter((row) => row.code === chosenCode) : all;
			rows.show(some);
			rows.element.hidden = some.length === 0;
			shownWords.textContent = some.length < failures && !chosenCode ? `${count(some.length, 'record')} of ${number(failures)} are listed here. The download has all of them.` : '';
		};
		const save = h('button', { type: 'button', id: 'save', onclick: () => attempt(async () => {
			const blob = await (await call('GET', itemsPath)).blob();
			const link = h('a', { href: URL.createObjectURL(blob), download: `failed-${id}.ndjson` });
			link.click();
			setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
		}) }, 'Download these');
		const repeat = h('button', { type: 'button', id: 'repeat', hidden: Boolean(isDry), onclick: () => attempt(async () => {
			repeat.disabled = true;
			try {
				const records = await (await call('GET', itemsPath, { signal: page })).blob();
				const next = await upload(repeatPath, { 'Content-Type': 'application/x-ndjson', Prefer: 'respond-async' }, records, () => {}, page);
				sources.set(next.jobId, { name: 'repeated records', type: 'application/x-ndjson', blob: records, op: '' });
				location.hash = `#/jobs/${next.jobId}`;
			}
			finally {
				repeat.disabled = false;
			}
		}) }, 'Repeat these');
		const source = sources.get(id);
		// A record with the outcome unknown may have run, so it cannot be fixed.
		const fixable = () => all.filter((row) => row.line && row.status !== 'unknown');
		const fix = h('button', { type: 'button', id: 'fix', hidden: true, onclick: () => attempt(async () => {
			const lines = fixable().slice(0, MAX_FIXED_ROWS).map((row) => row.line);
			const rows = await rowsAt(source.blob, source, lines);
			if (!page.aborted) {
				fixRows(rows, { ...source, gzip: false }, source.isFix ? source.name : `rows of ${source.name}`);
			}
		}) }, 'Fix the rows');
		const unknown = report.counts.unknown && !isDry ? h('p', { class: 'hint' }, `${count(report.counts.unknown, 'record')} may have run. The table lists them, but the download and the repeat leave them out. Check Redis first.`) : null;
		result.append(h('section', { 'aria-labelledby': 'failures-title' },
				h('h2', { id: 'failures-title' }, failureSummary(failures, isDry)),
				codes, rows.element, shownWords, unknown, h('p', { class: 'actions' }, fix, repeat, save),
				h('details', { class: 'lines' }, h('summary', {}, 'The same with curl'), shell(curl(itemsPath, { output: 'failed.ndjson' })),
						isDry ? null : shell(curl(repeatPath, { method: 'POST', headers: { 'Content-Type': 'application/x-ndjson' }, file: 'failed.ndjson' })))));
		drawCodes();
		rows.element.hidden = true;
		fetchFailures().then((found) => {
			all = found.rows;
			show();
			save.hidden = !found.hasDownload;
			// A malformed record would be rejected again.
			repeat.hidden = !found.hasDownload || isDry || report.counts.rejected + report.counts.unprocessed <= (report.errorCodes?.MALFORMED ?? 0);
			fix.hidden = !source?.blob || isDry || source.type === 'application/json' || fixable().length === 0;
			fix.className = fix.hidden ? '' : 'main';
		});

		/**
		 * Fetches the list of all failures. If it is gone, returns those of the report. The service has the list of
		 * asynchronous uploads only, and a report does not say how it was requested. So for other jobs than the uploads
		 * of this tab, the list of the report will do if it is complete.
		 */
		async function fetchFailures() {
			const reported = () => (report.items ?? []).filter((item) => item.error)
				.map(({ error: { code, message }, index, line, key, status }) => ({ code, message, index, line, status, key: keyOf(key) }));
			if (!source?.blob && reported().length >= failures) {
				return { rows: reported(), hasDownload: !source };
			}
			try {
				const response = await call('GET', `${path}/items${isDry ? '?status=rejected' : ''}`, { signal: page });
				const found = [];
				let rest = '';
				for await (const text of textsOf(response)) {
					const lines = (rest + text).split('\n');
					rest = lines.pop();
					for (const line of lines) {
						const { key, error } = JSON.parse(line);
						found.push({ key: keyOf(key), ...error });
					}
					if (found.length >= MAX_FAILURES) {
						break;
					}
				}
				return { rows: found.slice(0, MAX_FAILURES), hasDownload: true };
			}
			catch (error) {
				if (!(error instanceof Problem) && !page.aborted) {
					throw error;
				}
				return { rows: reported(), hasDownload: false };
			}
		}
	}

	await run();
}
