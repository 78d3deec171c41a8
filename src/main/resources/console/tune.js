// Tune: which settings are best here, by measuring.

import { settings } from './load.js';
import { JobTable, listed, pauseAfter } from './jobs.js';
import { again, bytes, count, curl, field, h, inputOf, notice, number, query, shell } from './page.js';
import { Problem, address, isKeyed, json } from './service.js';

/** The tunings that the page has at most. */
const EARLIER = 100;

/** What a command takes beside its value, about. */
const COMMAND_BYTES = 100;

/** The lists that make the grid. */
const GRID = ['batchSizes', 'flushes', 'concurrencies'];

/** The ways without a pipeline that are run as often as the rows are. */
const LARGE_BASELINES = 2;

/** Opens the form, with the parameters of an earlier tuning perhaps. */
export async function tune(main, page, earlier) {
	const rows = await settings('tuning');
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
	const fields = (names) => h('div', { class: 'fields' }, rows.filter((row) => names.includes(row.name)).map((row) => field(row.name, row.name, inputs[row.name], GRID.includes(row.name) ? `${row.meaning} Commas stand between them.` : row.meaning)));
	const cost = h('p', { class: 'hint', id: 'cost', role: 'status' });
	const mistaken = notice();
	const go = h('button', { class: 'main', id: 'tune' }, 'Tune');
	const line = shell('');
	const table = new JobTable(mistaken, () => look());
	const none = h('p', { class: 'empty', hidden: true }, h('strong', {}, 'No tuning has run yet.'), ' Without any change, the one above is a good first one.');

	main.append(h('h1', {}, 'Tune'), h('p', {}, 'A tuning loads Redis by a grid of settings, and recommends the best one for your Redis and your network. ', h('strong', {}, 'It is a load test: '), 'whoever else uses that Redis feels it.'),
			h('form', { onsubmit: begin },
					h('section', { 'aria-labelledby': 'load-title' }, h('h2', { id: 'load-title' }, 'What is loaded'), fields(['op', 'records', 'valueBytes', 'runs'])),
					h('section', { 'aria-labelledby': 'grid-title' }, h('h2', { id: 'grid-title' }, 'The grid'), fields([...GRID, 'budget'])),
					cost, mistaken, h('p', { class: 'actions' }, go)),
			h('details', { class: 'lines' }, h('summary', {}, 'The same with curl'), line),
			h('section', { 'aria-labelledby': 'earlier-title' }, h('h2', { id: 'earlier-title' }, 'Tunings'), none, table.element));

	function parameters() {
		return rows.map(({ name }) => [name, inputs[name].value.trim()]).filter(([, value]) => value);
	}

	function draw() {
		const value = (name) => inputs[name].value.trim() || defaults[name];
		const grid = GRID.reduce((product, name) => product * value(name).split(',').length, 1);
		const sent = Number(value('records')) * ((grid + LARGE_BASELINES) * Number(value('runs')) + 1);
		cost.textContent = `${count(grid, 'row')}, ${count(Number(value('runs')), 'run')} of each: about ${number(sent)} commands and ${bytes(sent * (Number(value('valueBytes')) + COMMAND_BYTES))} to Redis, in ${value('budget')} at most and the run that is under way then. Its keys are its own, and are removed in the end.`;
		line.say(curl({ method: 'POST', url: address(`v1/tunings?${query(parameters())}`).replace(/\?$/, ''), headers: { Prefer: 'respond-async' }, keyed: isKeyed() }));
	}

	async function begin(event) {
		event.preventDefault();
		mistaken.say();
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
			mistaken.say(error.message);
		}
		finally {
			go.disabled = false;
		}
	}

	const look = again(page, async (signal) => {
		try {
			const { jobs } = await listed([['kind', 'tuning'], ['limit', EARLIER]], signal);
			table.show(jobs);
			none.hidden = jobs.length > 0;
			return pauseAfter(jobs);
		}
		catch (error) {
			if (!(error instanceof Problem) && !signal.aborted) {
				throw error;
			}
			return pauseAfter([]);
		}
	});

	draw();
	await look();
}
