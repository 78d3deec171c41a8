// The page Keyspace: the form of an analysis and the earlier ones, or an analysis.

import { form, hrefOf, keysOf, lineOf, prefixIn, requestOf, start } from './analyses.js';
import { analysis } from './analysis.js';
import { curlLines, shell } from './curl.js';
import { fetchJobs } from './jobtable.js';
import { badge } from './jobwords.js';
import { settingField } from './labels.js';
import { attempt, count, h, inputOf, notice, section, timestamp } from './page.js';
import { fetchSettings } from './tab.js';

const MAX_EARLIER = 5;

/** The settings outside of the section Settings, with their hints. */
const FIRST = { match: 'a pattern such as user:*; all keys if empty', separator: 'the text that ends a prefix', depth: 'the separators in a prefix, 1 to 8' };

export async function keyspace(main, page, id) {
	if (id) {
		await analysis(main, page, id, prefixIn(location.hash));
	} else {
		await startPage(main, page);
	}
}

function parameters() {
	return Object.fromEntries(Object.entries(form.values).filter(([, value]) => value));
}

async function startPage(main, page) {
	const rows = await fetchSettings('analysis');
	const errors = notice();
	const line = shell(lineOf(parameters()));
	const go = h('button', { class: 'main', id: 'analyse' }, 'Analyse');
	const fields = rows.map((row) => settingField(row, { input: inputFor(row, line), hint: FIRST[row.name], label: (row.name === 'rateLimit') ? 'Keys per second at most' : undefined }));
	const fieldsOf = (isFirst) => h('div', { class: `fields ${isFirst ? '' : 'wide'}` }, fields.filter((input, i) => rows[i].name in FIRST === isFirst));
	const more = h('details', { class: 'settings', open: rows.some(({ name }) => !(name in FIRST) && form.values[name]) }, h('summary', {}, 'Settings'), fieldsOf(false));
	// A browser shows no validation error in a closed section.
	more.addEventListener('invalid', () => more.open = true, true);
	const earlier = h('div');
	main.append(h('h1', {}, 'Keyspace'), h('p', { class: 'lead' }, 'Which keys use the memory? Begin with an analysis of all keys. Then open a prefix, and delete its keys or let them expire.'),
			h('form', { onsubmit: async (event) => {
				event.preventDefault();
				go.disabled = true;
				await attempt(errors, page, () => start(page, parameters()));
				go.disabled = false;
			} }, fieldsOf(true), more, h('p', { class: 'actions' }, go, h('span', { class: 'hint' }, 'An analysis reads each key once, and changes nothing.'))),
			errors, curlLines(line), earlier);
	const found = await attempt(errors, page, () => fetchJobs([['kind', 'analysis'], ['limit', MAX_EARLIER]], page));
	earlier.append(...found?.jobs.length ? [earlierAnalyses(found.jobs)] : []);
}

function inputFor(row, line) {
	const input = inputOf(row, form.values[row.name]);
	if (row.name === 'match') {
		input.placeholder = 'all keys';
	}
	input.addEventListener('input', () => {
		form.values[row.name] = input.value.toWellFormed();
		line.setText(lineOf(parameters()));
	});
	return input;
}

function earlierAnalyses(jobs) {
	const titleOf = ({ parameters: given }) => given ? keysOf(given) : 'Analysis';
	return section('earlier', 'Earlier analyses', h('ul', { class: 'plain' }, jobs.map((status) => h('li', {}, h('a', { href: hrefOf(status.jobId) }, titleOf(requestOf(status.jobId))), ' ', badge(status),
			h('span', { class: 'hint' }, `${timestamp(status.createdMillis)}, ${count(status.progress.done, 'key')}`)))));
}
