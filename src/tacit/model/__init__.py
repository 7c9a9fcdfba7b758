"""What is published (`shared`), as people use it (`model`), with new items (`extend`), for
other systems (`export`); and what stays with its owner (`person`)."""
