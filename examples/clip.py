def clip(x: float, low: float | None) -> float:
    return x if low is None or x > low else low
