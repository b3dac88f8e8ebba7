/// The demand of a source and its path.
#[derive(Clone, Debug, PartialEq)]
pub struct Claim {
    /// Ports that it crosses.
    pub ports: Vec<usize>,
    /// Demanded rate \[bit/s\].
    pub demand: f64,
}

/// Computes the max-min fair shares centrally: all rates rise together, and a source stops where a port of its path is
/// full, or at its demand.
pub fn max_min(capacities: &[f64], claims: &[Claim]) -> Vec<f64> {
    let mut shares = vec![0.0; claims.len()];
    let mut rising: Vec<usize> = (0..claims.len()).collect();
    let mut left = capacities.to_vec();
    while !rising.is_empty() {
        let crossing = |port: usize| rising.iter().filter(|&&claim| claims[claim].ports.contains(&port)).count();
        let fair: Vec<f64> = left.iter().enumerate().map(|(port, left)| left / crossing(port) as f64).collect();
        let limit =
            |claim: usize| claims[claim].ports.iter().map(|&port| fair[port]).fold(claims[claim].demand, f64::min);
        let level = rising.iter().map(|&claim| limit(claim)).fold(f64::INFINITY, f64::min);
        // The sources that can rise no further, with a tolerance for the rounding of equal limits.
        let (stopped, others): (Vec<usize>, Vec<usize>) =
            rising.iter().partition(|&&claim| limit(claim) <= level * (1.0 + 1e-12));
        for claim in stopped {
            shares[claim] = level;
            claims[claim].ports.iter().for_each(|&port| left[port] -= level);
        }
        rising = others;
    }
    shares
}
