// The page Tune: measures which settings are best for this Redis.

import { settingField } from './labels.js';
import { fetchSettings } from './tab.js';
import { JobTable, fetchJobs, pollDelay } from './jobtable.js';
import { curl, shell } from './curl.js';
import { bytes, count, h, inputOf, notice, number, pollWhileVisible, query } from './page.js';
import { Problem, json } from './service.js';

/** The most tunings that the page lists. */
const MAX_TUNINGS = 100;

/** The approximate size of a command without its value. */
const COMMAND_BYTES = 100;

/** The settings that form the grid. */
const GRID_SETTINGS = ['batchSizes', 'flushes', 'concurrencies'];

/** The baselines that run as often as the rows of the grid. */
const LARGE_BASELINES = 2;

/** @param earlier the query string of an earlier tuning, if the form begins with its parameters */
export async function tune(main, page, earlier) {
	const rows = await fetchSettings('tuning');
	const defaults = Object.fromEntries(rows.map((row) => [row.name, row.defaultValue]));
	const given = new URLSearchParams(earlier ?? '');
	const inputs = Object.fromEntries(rows.map((row) => {
		const input = inputOf(row);
		input.value = given.get(row.name) ?? '';
		if (row.values) {
			input.options[0].textContent = row.defaultValue;
			input.options[0].selected = !given.has(row.name);
			[...input.options].find((option) => option.value === row.defaultValue)?.remove();
		}
		else {
			input.placeholder = row.defaultValue;
		}
		input.addEventListener('input', draw);
		return [row.name, input];
	}));
	const fields = (names) => h('div', { class: 'fields' }, rows.filter((row) => names.includes(row.name)).map((row) => settingField(row, { input: inputs[row.name] })));
	const cost = h('p', { class: 'hint', id: 'cost', role: 'status' });
	const errorNotice = notice();
	const go = h('button', { class: 'main', id: 'tune' }, 'Tune');
	const line = shell('');
	const table = new JobTable(errorNotice, () => refresh());
	const none = h('p', { class: 'empty', hidden: true }, h('strong', {}, 'No tuning has run yet.'), ' The values above are a good start.');

	main.append(h('h1', {}, 'Tune'), h('p', {}, 'A tuning loads Redis with each combination of settings in a grid. It recommends the best one for your Redis and your network. ', h('strong', {}, 'It is a load test: '), 'it may slow down other clients of that Redis.'),
			h('form', { onsubmit: begin },
					h('section', { 'aria-labelledby': 'load-title' }, h('h2', { id: 'load-title' }, 'Test load'), fields(['op', 'records', 'valueBytes', 'runs'])),
					h('section', { 'aria-labelledby': 'grid-title' }, h('h2', { id: 'grid-title' }, 'Grid'), fields([...GRID_SETTINGS, 'budget'])),
					cost, errorNotice, h('p', { class: 'actions' }, go)),
			h('details', { class: 'lines' }, h('summary', {}, 'The same with curl'), line),
			h('section', { 'aria-labelledby': 'earlier-title' }, h('h2', { id: 'earlier-title' }, 'Tunings'), none, table.element));

	function parameters() {
		return rows.map(({ name }) => [name, inputs[name].value.trim()]).filter(([, value]) => value);
	}

	function draw() {
		const value = (name) => inputs[name].value.trim() || defaults[name];
		const grid = GRID_SETTINGS.reduce((product, name) => product * value(name).split(',').length, 1);
		const sent = Number(value('records')) * ((grid + LARGE_BASELINES) * Number(value('runs')) + 1);
		cost.textContent = `At most ${count(grid, 'row')}, ${count(Number(value('runs')), 'run')} of each: about ${number(sent)} commands and ${bytes(sent * (Number(value('valueBytes')) + COMMAND_BYTES))} to Redis. No run starts after ${value('budget')}. The tuning writes only its own keys, and removes them at the end.`;
		line.setText(curl(`v1/tunings?${query(parameters())}`.replace(/\?$/, ''), { method: 'POST', headers: { Prefer: 'respond-async' } }));
	}

	async function begin(event) {
		event.preventDefault();
		errorNotice.setText();
		go.disabled = true;
		try {
			const { jobId } = await json('POST', `v1/tunings?${query(parameters())}`, { headers: { Prefer: 'respond-async' } });
			if (!page.aborted) {
				location.hash = `#/jobs/${jobId}`;
			}
		}
		catch (error) {
			if (!(error instanceof Problem)) {
				throw error;
			}
			errorNotice.setText(error.message);
		}
		finally {
			go.disabled = false;
		}
	}

	const refresh = pollWhileVisible(page, async (signal) => {
		try {
			const { jobs } = await fetchJobs([['kind', 'tuning'], ['limit', MAX_TUNINGS]], signal);
			table.show(jobs);
			none.hidden = jobs.length > 0;
			return pollDelay(jobs);
		}
		catch (error) {
			if (!(error instanceof Problem) && !signal.aborted) {
				throw error;
			}
			return pollDelay([]);
		}
	});

	draw();
	await refresh();
}
