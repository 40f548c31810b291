//! Opens captures and answers questions about them, for every front end alike.
