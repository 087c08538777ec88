// The screen `operator-accounts`.
export default function Screen() {
  return <h1>operator-accounts</h1>;
}
