//! # metier-native — skills that are a library of machine code
