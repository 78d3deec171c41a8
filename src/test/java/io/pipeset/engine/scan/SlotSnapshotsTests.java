package io.pipeset.engine.scan;

import java.util.Map;

import io.pipeset.engine.servers.SlotsAtNode;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Two snapshots of a cluster show the slots whose keys a scan between them may have
 * missed.
 */
class SlotSnapshotsTests {

	private final SlotSnapshots<String> before = snapshots("1 connected 0-9", "2 connected 10-19");

	@Test
	void slotsThatStayAreNotInDoubt() {
		assertThat(doubtful(this.before, this.before)).isEqualTo("{}");
	}

	@Test
	void aSlotWithAnotherMasterIsInDoubt() {
		SlotSnapshots<String> later = snapshots("1 connected 0-3 5-9", "2 connected 4 10-19");
		assertThat(doubtful(this.before, later)).isEqualTo("{4}");
		assertThat(this.before.doubtful(later, true)).hasToString("{4}");
	}

	@Test
	void aSlotThatMayHaveComeBackIsInDoubt() {
		SlotSnapshots<String> later = snapshots("3 connected 0-1", "2 connected 10-19");
		SlotSnapshots<String> first = snapshots("1 connected 0-1", "2 connected 10-19");
		assertThat(doubtful(first, later)).isEqualTo("{0, 1}");
		assertThat(first.doubtful(later, true)).hasToString("{0, 1}");
	}

	@Test
	void aMasterThatWasReplacedLeavesItsSlotsInDoubt() {
		SlotSnapshots<String> later = new SlotSnapshots<>(
				Map.of("b", node("2 connected 10-19"), "promoted", node("3 connected 0-9")));
		assertThat(doubtful(this.before, later)).isEqualTo("{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}");
	}

	@Test
	void aMovingSlotIsInDoubtUnlessItsNodesAreScannedInOrder() {
		SlotSnapshots<String> moving = snapshots("1 connected 0-9 [4->-b]", "2 connected 10-19 [4-<-a]");
		SlotSnapshots<String> moved = snapshots("1 connected 0-3 5-9", "2 connected 4 10-19");
		assertThat(doubtful(this.before, moving)).isEqualTo("{4}");
		assertThat(doubtful(moving, moving)).isEqualTo("{4}");
		assertThat(doubtful(moving, this.before)).isEqualTo("{4}");
		assertThat(moving.doubtful(moving, true)).hasToString("{}");
		assertThat(moving.doubtful(moved, true)).hasToString("{}");
		assertThat(this.before.doubtful(moving, true)).hasToString("{4}");
		SlotSnapshots<String> further = new SlotSnapshots<>(
				Map.of("a", node("1 connected 0-3 5-9"), "b", node("2 connected 10-19"), "c", node("3 connected 4")));
		assertThat(moving.doubtful(further, true)).hasToString("{4}");
	}

	@Test
	void aSlotThatMayHaveReturnedToTheMasterScannedFirstIsInDoubt() {
		SlotSnapshots<String> moving = snapshots("1 connected 0-9 [4->-b]", "2 connected 10-19 [4-<-a]");
		SlotSnapshots<String> back = snapshots("1 connected 0-3 5-9 [4-<-b]", "2 connected 4 10-19 [4->-a]");
		assertThat(moving.doubtful(back, true)).hasToString("{4}");
		assertThat(moving.doubtful(this.before, true)).hasToString("{4}");
		SlotSnapshots<String> refused = snapshots("1 connected 0-9 [4->-b]", "2 connected 10-19");
		assertThat(moving.doubtful(refused, true)).hasToString("{4}");
	}

	@Test
	void aSlotWithoutAMasterIsUnserved() {
		assertThat(this.before.unserved(this.before.of("b").served())).hasToString("{}");
		assertThat(this.before.unserved(node("1 connected 9-21").served())).hasToString("{20, 21}");
	}

	@Test
	void importingNodesAreNamedByTheirAddress() {
		SlotsAtNode slots = SlotsAtNode.of("""
				aa 10.0.0.1:7000@17000 myself,master - 0 0 1 connected 0-9 [3->-bb] [4->-cc]
				bb 10.0.0.2:7000@17000,host-b master - 0 0 2 connected 10-19
				""");
		assertThat(slots.importers()).containsExactly("10.0.0.2:7000");
		assertThat(slots.served()).hasToString("{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}");
		assertThat(slots.moving()).hasToString("{3, 4}");
	}

	private static String doubtful(SlotSnapshots<String> before, SlotSnapshots<String> later) {
		return before.doubtful(later, false).toString();
	}

	private static SlotSnapshots<String> snapshots(String first, String second) {
		return new SlotSnapshots<>(Map.of("a", node(first), "b", node(second)));
	}

	private static SlotsAtNode node(String state) {
		return SlotsAtNode.of("id 10.0.0.1:7000@17000 myself,master - 0 0 " + state);
	}

}
