"""Line differences as decisions: hunks, subsets, intraline spans."""
