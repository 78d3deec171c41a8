package io.pipeset.engine.scan;

import java.util.Map;

import io.pipeset.engine.servers.SlotsAtNode;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Two looks at a cluster tell the slots whose keys a scan between them may have missed.
 */
class SlotViewsTests {

	private final SlotViews<String> before = views("1 connected 0-9", "2 connected 10-19");

	@Test
	void slotsThatStayAreNotInDoubt() {
		assertThat(doubtful(this.before, this.before)).isEqualTo("{}");
	}

	@Test
	void aSlotWithAnotherMasterIsInDoubt() {
		SlotViews<String> later = views("1 connected 0-3 5-9", "2 connected 4 10-19");
		assertThat(doubtful(this.before, later)).isEqualTo("{4}");
		assertThat(this.before.doubtful(later, true)).hasToString("{4}");
	}

	@Test
	void aSlotThatMayHaveComeBackIsInDoubt() {
		SlotViews<String> later = views("3 connected 0-1", "2 connected 10-19");
		SlotViews<String> first = views("1 connected 0-1", "2 connected 10-19");
		assertThat(doubtful(first, later)).isEqualTo("{0, 1}");
		assertThat(first.doubtful(later, true)).hasToString("{0, 1}");
	}

	@Test
	void aMasterThatWasReplacedLeavesItsSlotsInDoubt() {
		SlotViews<String> later = new SlotViews<>(
				Map.of("b", node("2 connected 10-19"), "promoted", node("3 connected 0-9")));
		assertThat(doubtful(this.before, later)).isEqualTo("{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}");
	}

	@Test
	void aSlotOnItsWayIsInDoubtUntilItsNodesAreScannedInOrder() {
		SlotViews<String> moving = views("1 connected 0-9 [4->-b]", "2 connected 10-19 [4-<-a]");
		SlotViews<String> moved = views("1 connected 0-3 5-9", "2 connected 4 10-19");
		assertThat(doubtful(this.before, moving)).isEqualTo("{4}");
		assertThat(doubtful(moving, moving)).isEqualTo("{4}");
		assertThat(doubtful(moving, this.before)).isEqualTo("{4}");
		assertThat(moving.doubtful(moving, true)).hasToString("{}");
		assertThat(moving.doubtful(moved, true)).hasToString("{}");
		assertThat(this.before.doubtful(moving, true)).hasToString("{4}");
		SlotViews<String> further = new SlotViews<>(
				Map.of("a", node("1 connected 0-3 5-9"), "b", node("2 connected 10-19"), "c", node("3 connected 4")));
		assertThat(moving.doubtful(further, true)).hasToString("{4}");
	}

	@Test
	void aSlotWhoseKeysMayHaveComeBackToAMasterThatWasScannedFirstIsInDoubt() {
		SlotViews<String> moving = views("1 connected 0-9 [4->-b]", "2 connected 10-19 [4-<-a]");
		SlotViews<String> back = views("1 connected 0-3 5-9 [4-<-b]", "2 connected 4 10-19 [4->-a]");
		assertThat(moving.doubtful(back, true)).hasToString("{4}");
		assertThat(moving.doubtful(this.before, true)).hasToString("{4}");
		SlotViews<String> refused = views("1 connected 0-9 [4->-b]", "2 connected 10-19");
		assertThat(moving.doubtful(refused, true)).hasToString("{4}");
	}

	@Test
	void aSlotThatNobodyServesIsNamed() {
		assertThat(this.before.unserved(this.before.of("b").served())).hasToString("{}");
		assertThat(this.before.unserved(node("1 connected 9-21").served())).hasToString("{20, 21}");
	}

	@Test
	void theNodesThatSlotsGoToAreNamedByTheirAddress() {
		SlotsAtNode slots = SlotsAtNode.of("""
				aa 10.0.0.1:7000@17000 myself,master - 0 0 1 connected 0-9 [3->-bb] [4->-cc]
				bb 10.0.0.2:7000@17000,host-b master - 0 0 2 connected 10-19
				""");
		assertThat(slots.takers()).containsExactly("10.0.0.2:7000");
		assertThat(slots.served()).hasToString("{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}");
		assertThat(slots.onTheirWay()).hasToString("{3, 4}");
	}

	private static String doubtful(SlotViews<String> before, SlotViews<String> later) {
		return before.doubtful(later, false).toString();
	}

	private static SlotViews<String> views(String first, String second) {
		return new SlotViews<>(Map.of("a", node(first), "b", node(second)));
	}

	private static SlotsAtNode node(String state) {
		return SlotsAtNode.of("id 10.0.0.1:7000@17000 myself,master - 0 0 " + state);
	}

}
