// The screen `operator-people`.
export default function Screen() {
  return <h1>operator-people</h1>;
}
