package io.pipeset.job.spool;

/**
 * Who has which spool folder. The lock of a folder says it too, but a network file system
 * may release the lock of a process that is only paused. So the process that takes a
 * folder over claims it first, and the process that had it checks the claim before it
 * writes to Redis.
 */
public interface FolderClaims {

	/** No claims: only locks say who has a folder. */
	FolderClaims NONE = new FolderClaims() {

		@Override
		public void claim(String folder) {
			// The lock is enough.
		}

		@Override
		public boolean isClaimed(String folder) {
			return false;
		}

	};

	/**
	 * Claims the folder of another process, before its files are read.
	 * @param folder the name of the folder
	 */
	void claim(String folder);

	/**
	 * Whether another process has claimed a folder.
	 * @return {@code false} also if that cannot be checked now
	 */
	boolean isClaimed(String folder);

}
