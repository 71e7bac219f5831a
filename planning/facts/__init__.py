"""What follows from a spec and the catalogue. `derive` brings it together; one module per subject."""
