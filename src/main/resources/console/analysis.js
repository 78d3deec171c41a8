// An analysis: the progress of its job, and what it found below a prefix.

import { MAX_CHARACTERS, MAX_TITLE, addSweep, form, groupingOf, hrefOf, keysOf, lineOf, pattern, requestOf, start, sweepsAfter } from './analyses.js';
import { Prefixes } from './blocks.js';
import { curl, curlLines, shell } from './curl.js';
import { JobView } from './job.js';
import { badge } from './jobwords.js';
import { announce, attempt, count, duration, h, notice, number, section } from './page.js';
import { PrefixTree, bytesOf, commonPrefixOf, displayName, levelsOf, literalPrefixOf, nameOf, patternOf, truncate } from './prefixes.js';
import { sweep } from './sweep.js';
import { largest, nameElement, tiles, totals } from './totals.js';

const MAX_DEPTH = 8;

/** The prefix of the keys that belong to the service. */
const OWN = 'pipeset:';

/** The current report, so that links from prefix to prefix need no request. */
let current;

/** Whether the service's own keys are shown, in all analyses. */
let showsOwn = false;

export async function analysis(main, page, id, at) {
	if (current?.id === id || await follow(main, page, id)) {
		new AnalysisView(main, page, id, at).draw();
	}
}

/** Shows the job of an analysis until its report is there. A job that found no prefixes has its own page only. */
async function follow(main, page, id) {
	const view = new JobView(main, page, id);
	await view.followToEnd();
	if (page.aborted) return false;
	if (!view.report?.prefixes) {
		location.replace(`#/jobs/${id}`);
		return false;
	}
	current = { id, report: view.report };
	main.replaceChildren();
	return true;
}

function another() {
	return h('a', { class: 'button', href: '#/keyspace' }, 'Another analysis');
}

class AnalysisView {
	state = h('span');
	about = h('p', { class: 'hint' });
	errors = notice();
	body = h('div');

	constructor(main, page, id, at) {
		Object.assign(this, { page, id, at, ...requestOf(id) });
		// Whoever analyses the service's own keys, or opens their prefix, wants to see them.
		this.isOwn = (this.parameters?.match ?? '').startsWith(OWN);
		main.append(h('div', { class: 'title' }, h('h1', {}, 'Keyspace'), this.state), this.about, this.errors, this.body);
	}

	attempt(action) {
		return attempt(this.errors, this.page, action);
	}

	draw() {
		const { id, at, parameters } = this;
		const report = this.report = current.report;
		const isAsked = showsOwn || this.isOwn || at.startsWith(OWN);
		this.isShown = (reported) => isAsked || !nameOf(reported).startsWith(OWN);
		this.prefixes = new PrefixTree({ ...report, prefixes: report.prefixes.filter(({ prefix }) => this.isShown(prefix)) }, groupingOf(parameters));
		const node = this.node = this.prefixes.nodeAt(at);
		this.hasMemory = report.bytes !== undefined;
		document.title = `${node.name ? `${truncate(displayName(node.name), MAX_TITLE)} · ` : ''}Keyspace · Pipeset`;
		announce(`${node.name ? truncate(displayName(node.name), MAX_CHARACTERS) : 'All keys'}, ${count(node.keys, 'key')}`);
		form.values = { ...parameters };
		this.state.replaceChildren(...(report.state === 'completed') ? [] : [badge(report)]);
		this.about.replaceChildren(...parameters ? keysOf(parameters) : ['An analysis'], ` · took ${duration(report.timings.totalMillis)}, ${number(report.keysPerSecond)} keys per second · `, h('a', { href: `#/jobs/${id}` }, 'job page'));
		const again = h('button', { type: 'button', id: 'again', onclick: () => this.attempt(() => start(this.page, parameters, this.up)) }, 'Analyse again');
		this.body.replaceChildren(h('p', { class: 'actions' }, parameters ? again : null, another()), ...remarks(report, id), ...this.ownBox(), ...this.parts());
	}

	/** The choice whether the service's own keys are included. */
	ownBox() {
		const own = this.report.prefixes.filter(({ prefix }) => nameOf(prefix).startsWith(OWN)).reduce((sum, { keys }) => sum + keys, 0);
		if (own === 0 || this.at || this.isOwn) return [];
		const box = h('input', { type: 'checkbox', id: 'own', checked: showsOwn, onchange: () => {
			showsOwn = box.checked;
			this.draw();
			document.getElementById('own').focus();
		} });
		return [h('p', { class: 'hint' }, h('label', {}, box, ` Include ${count(own, 'key')} of the service itself (${OWN}*)`))];
	}

	parts() {
		const { id, node, report, parameters, hasMemory } = this;
		if (this.prefixes.root.keys === 0) {
			return [h('div', { class: 'empty' }, h('p', {}, h('strong', {}, 'No key was found.')), h('p', {}, h('a', { href: '#/load' }, 'Load some keys'), ', or analyse other keys.'))];
		}
		const breadcrumbs = breadcrumbsTo(id, node.name);
		return [...breadcrumbs.length > 1 ? [navigation(breadcrumbs)] : [], tiles(node, hasMemory), ...node.name ? [this.prefixCard()] : [], ...node.children.length > 0 ? [new Prefixes(id, node, hasMemory).element] : [],
			h('div', { class: 'cards' }, totals(report, node, node === this.prefixes.root, hasMemory)), ...hasMemory ? largest(report, node, node === this.prefixes.root, this.isShown) : [],
			...report.masters ? [section('masters', 'Masters', h('ul', { class: 'plain' }, report.masters.map((master) => h('li', {}, h('code', {}, master.node), ` ${count(master.keys, 'key')}${master.complete ? '' : ', incomplete'}`))))] : [],
			curlLines(parameters ? ['Analyse', shell(lineOf(parameters))] : [], 'This report', shell(curl(`v1/jobs/${id}`)))];
	}

	/** The actions on the keys of the prefix. */
	prefixCard() {
		const { id, node, page, parameters } = this;
		return h('section', { class: 'card', 'aria-labelledby': 'prefix-title' }, h('h2', { id: 'prefix-title' }, nameElement(displayName(node.name))), this.hints().map((hint) => h('p', { class: 'hint' }, hint)),
				sweep(node.name, parameters?.type, page, (job) => addSweep(id, job)), this.deeper());
	}

	/** Why the actions meet more keys than the analysis. */
	hints() {
		const { node, parameters } = this;
		const isGroup = node !== this.prefixes.root && node.children.length > 0;
		const leavesOut = parameters?.match && !node.name.startsWith(bytesOf(literalPrefixOf(parameters.match) ?? '\uFFFD'));
		return [[!parameters, 'This analysis was started elsewhere. If it left out keys of this prefix, the actions below include them.'],
			[leavesOut, leavesOut && ['The analysis covers only keys like ', pattern(parameters.match), '. The actions below include the other keys of this prefix.']],
			[node.partial || (isGroup && this.report.prefixesOmitted > 0), 'Some of its keys are counted with the smaller prefixes. The actions below include all of them.'],
			[isGroup && this.prefixes.mixesLevels, `These numbers leave out its keys with fewer than ${parameters?.depth} separators. The actions below include them.`]]
			.filter(([holds]) => holds).map(([, hint]) => hint);
	}

	/** The way to an analysis of the next prefixes. */
	deeper() {
		const { id, node, parameters } = this;
		const { separator } = groupingOf(parameters);
		const depth = levelsOf(node.name, separator).length + 1;
		const match = patternOf(node.name);
		if (match === undefined || match === parameters?.match || depth > MAX_DEPTH || !node.name.endsWith(separator)) {
			return [];
		}
		const request = { ...parameters, match, depth: String(depth) };
		return [h('p', { class: 'actions' }, h('button', { type: 'button', id: 'deeper', onclick: () => this.attempt(() => start(this.page, request, { id, at: node.name })) }, 'Analyse this prefix'),
				h('span', { class: 'hint' }, 'Shows its next prefixes, TTLs, sizes and largest keys. This scans all keys again.')), curlLines(shell(lineOf(request)))];
	}
}

/** The limits of the numbers: what is missing or outdated. */
function remarks(report, id) {
	const found = [];
	const warn = (...words) => found.push(h('p', { class: 'warning' }, ...words));
	if (report.ending) {
		warn('These are the totals so far. ', report.ending.detail);
	}
	if (report.bytesLeftOut) {
		warn('Without memory: ', report.bytesLeftOut);
	}
	if (report.partialSlots) {
		warn(`Keys of ${count(report.partialSlots, 'slot')} may be missing, because the slots moved or had no master.`);
	}
	if (report.restarts) {
		found.push(h('p', { class: 'hint' }, `Redis restarted during the analysis, so the analysis started again ${report.restarts === 1 ? 'once' : `${number(report.restarts)} times`}.`));
	}
	for (const { op, match, jobId } of sweepsAfter(id)) {
		warn(`Since then: ${op} of `, pattern(match), ' by ', h('a', { href: `#/jobs/${jobId}` }, 'a job'), '. These numbers are older. Analyse again for current numbers.');
	}
	return found;
}

/** The links from all keys to a prefix, through the analyses that led to it. */
function breadcrumbsTo(id, at) {
	const { parameters, up: parent } = requestOf(id);
	const grouping = groupingOf(parameters);
	const base = commonPrefixOf(grouping);
	const own = [base, ...(grouping.depth ? levelsOf(at, grouping.separator) : []).filter((level) => level.length > base.length && level.length < at.length), ...(at.length > base.length ? [at] : [])]
		.map((level) => ({ level, href: hrefOf(id, level === base ? '' : level) }));
	return parent ? [...breadcrumbsTo(parent.id, parent.at).slice(0, -1), ...own] : own;
}

function navigation(breadcrumbs) {
	return h('div', { class: 'breadcrumbs', role: 'navigation', 'aria-label': 'Prefix' }, h('ol', {}, breadcrumbs.map(({ level, href }, i) => {
		const above = breadcrumbs[i - 1]?.level ?? '';
		const label = truncate(level ? displayName(level.startsWith(above) ? level.substring(above.length) : level) : 'All keys', MAX_TITLE);
		return h('li', {}, (i === breadcrumbs.length - 1) ? h('span', { class: 'name', 'aria-current': 'location' }, label) : h('a', { class: 'name', href }, label));
	})));
}
