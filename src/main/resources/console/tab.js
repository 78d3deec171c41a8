// What this tab keeps between its pages: the load, its settings, and what each job processes.

/** The records that a preview shows. */
export const PREVIEW_RECORDS = 5;

/** The label of previews. All tabs leave them out of the list of jobs. */
const PREVIEW_LABEL = 'Preview in the console';
export const PREVIEW = [['dryRun', 'true'], ['results', 'all'], ['label', PREVIEW_LABEL]];

const SETTINGS_KEY = 'pipeset.settings';

/** What each job of this tab processes: a file or the keys of a sweep, by job ID. */
export const sources = new Map();

export function isPreview({ dryRun, label }) {
	return dryRun && label === PREVIEW_LABEL;
}

/** The state of the page Load, for when the user comes back to it. */
let savedState;

export function savedLoad() {
	return savedState ?? { settings: storedSettings() };
}

export function saveLoad(state) {
	savedState = state;
}

/** Forgets the fixed rows of a load when they are loaded. */
export function forgetFixed({ blob, isFix, settings, tunedSettings }) {
	if (isFix && savedState?.blob === blob) {
		savedState = { settings, tunedSettings };
	}
}

const settingTables = {};

export async function fetchSettings(name = 'settings') {
	settingTables[name] ??= await (await fetch(`${name}.json`)).json();
	return settingTables[name];
}

/** Opens the page with rows to fix, the mapping of their load, and the settings of the next load. */
export function fixRows(text, state, name) {
	savedState = { ...state, settings: storedSettings(), tunedSettings: savedState?.tunedSettings, text, blob: new Blob([text]), name, isFix: true };
	location.hash = '#/load';
}

/** The settings of the next load for repeated records, which name their encoding, and whose expiry includes the jitter. */
export function settingsOfRecords() {
	return Object.entries(storedSettings()).filter(([name]) => name !== 'encoding' && name !== 'ttlJitter');
}

/** Sets the settings of the next loads of this tab, and opens the page. */
export function useSettings(settings) {
	savedState ??= { settings: storedSettings() };
	savedState.tunedSettings = Object.fromEntries(Object.entries(settings).map(([name, value]) => [name, String(value)]));
	Object.assign(savedState.settings, savedState.tunedSettings);
	storeSettings(savedState.settings);
	location.hash = '#/load';
}

function storedSettings() {
	try {
		return JSON.parse(sessionStorage.getItem(SETTINGS_KEY)) ?? {};
	} catch {
		return {};
	}
}

export function storeSettings(settings) {
	sessionStorage.setItem(SETTINGS_KEY, JSON.stringify(settings));
}
