// What a job ended with: its warnings, its failures, and its report.

import { curl, shell } from './curl.js';
import { Failures } from './failures.js';
import { tuningReport } from './heat.js';
import { failedOf } from './jobwords.js';
import { labelOf } from './labels.js';
import { bytes, count, duration, h, number, section } from './page.js';
import { json, upload } from './service.js';
import { sources } from './tab.js';

/** The most items in the report as JSON. */
const MAX_ITEMS = 20;

/** @param view the page of the job, with its last status and its report */
export function jobResult(view) {
	const { last, report, path } = view;
	if (!report) return [h('p', { class: 'hint' }, 'The report is no longer available.')];
	const { counts } = report;
	const failures = (!counts || !report.errors) ? 0 : failedOf({ ...report, dryRun: last.dryRun }, false);
	return [...(report.warnings ?? []).map(({ code, detail }) => h('p', { class: 'warning' }, h('strong', {}, code), ` ${detail}`)),
		...(counts && !failures && last.state === 'completed') ? [h('p', { class: 'good' }, successWords(report, last.dryRun))] : [],
		...failures ? [new Failures(view, failures).element] : [],
		actions(view, failures),
		...counts ? [reportSection(report)] : [],
		...report.rows ? [tuningReport(report)] : [],
		h('details', {}, h('summary', {}, 'The report as JSON'), shell(curl(path)),
				h('pre', { class: 'scroll', tabindex: 0 }, JSON.stringify({ ...report, items: report.items?.slice(0, MAX_ITEMS) }, null, 2)))];
}

function successWords({ counts: { received }, wouldRun, verified }, isDry) {
	if (verified) return `Redis has all ${count(received, 'record')}.${verified.incomparable ? ` ${number(verified.incomparable)} leave nothing to compare.` : ''}`;
	if (isDry) return `All ${count(wouldRun ?? 0, 'record')} would run.`;
	return (received === 0) ? 'It had no records.' : (received === 1) ? 'Its one record ran.' : `All ${count(received, 'record')} ran.`;
}

/** The actions for the ended job as a whole: back to the page where it began, and on to its analysis. */
function actions(view, failures) {
	const { id, last, report } = view;
	const source = sources.get(id);
	const link = (href, label, kind = '') => h('a', { class: `button ${kind}`, href }, label);
	return h('p', { class: 'actions' }, (last.dryRun && source) ? [link('#/load', 'Back to the load', 'main'), h('span', { class: 'hint' }, failures
		? `Nothing was written. Fix the ${source.kind ? 'source' : 'file'}, or load it as it is and fix these rows afterwards.` : 'Nothing was written.')] : null,
	(source?.compare && !last.dryRun) ? compareButton(view, source) : null,
	source?.from ? link(source.from, 'Back to the keyspace') : null,
	(last.kind === 'analysis' && report.prefixes) ? link(`#/keyspace/${id}`, 'Prefixes, types and largest keys') : null);
}

/** Sends the request once more, which compares its records with what Redis has now. */
function compareButton(view, source) {
	const button = h('button', { type: 'button', id: 'compare', title: 'Reads what the load has written, and writes nothing', onclick: () => view.attempt(async () => {
		button.disabled = true;
		try {
			const { kind, blob, compare: { path, headers } } = source;
			const next = await (kind ? json('POST', path, { headers }) : upload(path, headers, blob, () => {}, view.page));
			sources.set(next.jobId, source);
			location.hash = `#/jobs/${next.jobId}`;
		} finally {
			button.disabled = false;
		}
	}) }, 'Compare again');
	return button;
}

function reportSection({ timings, settings, counts, commandsSent, bytesSent, redis }) {
	const facts = (rows) => h('dl', { class: 'facts' }, rows.map(([name, value, title]) => h('div', { title }, h('dt', {}, name), h('dd', {}, value))));
	return section('report', 'Report', facts([['records', number(counts.received)], ['commands sent', number(commandsSent)], ['bytes sent', bytes(bytesSent)], ['sent to', redis],
		['total time', duration(timings.totalMillis)], ['wait time', duration(timings.waitMillis)], ['read time', duration(timings.readMillis)],
		['Redis time', duration(timings.redisMillis)], ['batches', number(timings.batches.count)], ['longest batch', duration(timings.batches.maxMillis)]]),
	h('h3', {}, 'Settings in effect'), facts(Object.entries(settings).filter(([, value]) => value !== false)
		.map(([name, value]) => [labelOf(name), Array.isArray(value) ? value.join('  ') : String(value), name])));
}
