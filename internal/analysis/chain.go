package analysis

type dqlChain struct{}
